/** A function of the glue that calls the host: its name, its parameters, its body. */
const HOST_CALL = /^( +)const (_trampoline\d+) = function\(([^()\n]*)\) \{\n(.*?)\n\1\}\n(?=\1\2\.fnName = )/gms;

/** How the glue links one: by the name of its function, plainly or as suspending, each time with all that it is. */
const LINK =
  /^( +)let (trampoline\d+) = _\2\.manuallyAsync \? new WebAssembly\.Suspending\(_suspendingImport\((\d+), _lowerImportBackwardsCompat\.bind\(\n(.*?)^\1\)\)\) : _lowerImportBackwardsCompat\.bind\(\n(.*?)^\1\);\n/gms;

/** What a host call does only to keep account of tasks, once each in its body, and what stays of it. */
const ACCOUNTS: readonly (readonly [RegExp, string])[] = [
  [/^ *const hostProvided = true;\n.*?^ *const started = task\.enterSync\(\);\n/gms, ""],
  [
    /_withGlobalCurrentTaskMeta\(\{\n *componentIdx: task\.componentIdx\(\),\n *taskID: task\.id\(\),\n *fn: \(\) => _trackHostOperation\(\(\) => ([^\n]*)\),\n *\}\)\n *;/g,
    "$1;",
  ],
  [
    /^ *task\.resolve\(\[(?:ret|handle\d+|variant\d+_\d+|toUint\d+\(ret\)|ret \? 1 : 0)\]\);\n *task\.exit\(\);$/gm,
    "",
  ],
];

/** The same where a call that throws ends the guest; a call that gives a `result` has none. */
const ACCOUNT_OF_TRAP =
  /^ *_debugLog\('\[Instruction::CallInterface\] error during sync call', \{\n *taskID: task\.id\(\),\n *subtaskID: task\.getParentSubtask\(\)\?\.id\(\),\n *err,\n *\}\);\n( *getOrCreateAsyncState\(\d+\)\.markTrapped\(err\);\n) *task\.setErrored\(err\);\n *task\.reject\(err\);\n *task\.exit\(\);\n/gm;

/** Calls of a function that does nothing by now. */
const LOGS =
  /^ *_debugLog\('\[iface=[^\n]*(?: enter\)'\);|\[Instruction::Return\]', \{\n(?: *\w+: [^\n]*\n)* *\}\);)\n/gm;

/** Glue whose plain imports are called straight, and how many of its imports those are. */
export interface StraightGlue {
  readonly source: string;
  readonly straight: number;
  readonly all: number;
}

/**
 * Takes the account of tasks off every import that is linked as a plain function. The glue opens and closes two tasks
 * for each call, which is most of what the call costs; only where something may wait does anybody look at them. What
 * stays: values are lifted, lowered and checked, a component that may not leave does not, one that trapped stays so.
 *
 * An import that may suspend, or that is not written as is known here, stays as it was: slower, and right.
 */
export function callPlainImportsStraight(source: string): StraightGlue {
  const owners = new Map<string, string>();
  const links = [...source.matchAll(LINK)];
  for (const [, , name, owner, suspending, plain] of links) {
    const isPlain = !source.includes(`_${name}.manuallyAsync = `);
    if (isPlain && [suspending!, plain!].every((link) => isSync(link, `_${name}`, owner!))) {
      owners.set(`_${name}`, owner!);
    }
  }
  const straight = new Set<string>();
  const called = source.replace(
    HOST_CALL,
    (whole: string, indent: string, name: string, parameters: string, body: string) => {
      const owner = owners.get(name);
      const short = owner === undefined ? undefined : withoutAccounts(body);
      if (short === undefined) return whole;
      straight.add(name);
      return `${indent}const ${name} = function(${parameters}) {\n${indent}  _checkMayLeave(${owner});\n${short}\n${indent}}\n`;
    },
  );
  const linked = called.replace(
    LINK,
    (whole: string, indent: string, name: string) =>
      straight.has(`_${name}`) ? `${indent}let ${name} = _${name};\n` : whole,
  );
  return { source: linked, straight: straight.size, all: links.length };
}

function isSync(link: string, name: string, owner: string): boolean {
  const lines = new Set(link.split("\n").map((line) => line.trim()));
  return [`componentIdx: ${owner},`, "isAsync: false,", "funcTypeIsAsync: false,", `importFn: ${name},`]
    .every((line) => lines.has(line));
}

/** Undefined where something is not as it is known, so that an account would be left half. */
function withoutAccounts(body: string): string | undefined {
  let short = body;
  for (const [pattern, stays] of ACCOUNTS) {
    if (short.match(pattern)?.length !== 1) return undefined;
    short = short.replace(pattern, stays);
  }
  short = short.replace(ACCOUNT_OF_TRAP, "$1").replace(LOGS, "");
  return /\b(?:task|subtask|parentTask|createTask)\b/.test(short) ? undefined : short;
}

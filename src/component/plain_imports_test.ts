import { assert, assertEquals } from "@std/assert";
import { callPlainImportsStraight } from "./plain_imports.ts";

const LINKED = `{
    trampolineIdx: 3,
    componentIdx: 2,
    isAsync: false,
    isManualAsync: _trampoline3.manuallyAsync,
    funcTypeIsAsync: false,
    getMemoryFn: () => memory0,
    importFn: _trampoline3,
  },
`;

/** One import as the transpiler writes it: a call that gives a handle, and traps when it throws. */
const GLUE = `
  const _trampoline3 = function(arg0) {
    _debugLog('[iface="wasi:cli/stdout@0.2.3", function="get-stdout"] [Instruction::CallInterface] (sync, @ enter)');
    const hostProvided = true;
    let parentTask;
    let task;
    taskCreation: {
      task.setParentSubtask(subtask);
    }
    const started = task.enterSync();
    let ret;
    try {
      ret = _withGlobalCurrentTaskMeta({
        componentIdx: task.componentIdx(),
        taskID: task.id(),
        fn: () => _trackHostOperation(() => getStdout(arg0)),
      })
      ;
    } catch (err) {
      _debugLog('[Instruction::CallInterface] error during sync call', {
        taskID: task.id(),
        subtaskID: task.getParentSubtask()?.id(),
        err,
      });
      getOrCreateAsyncState(2).markTrapped(err);
      task.setErrored(err);
      task.reject(err);
      task.exit();
      throw err;
    }
    _debugLog('[iface="wasi:cli/stdout@0.2.3", function="get-stdout"][Instruction::Return]', {
      funcName: 'get-stdout',
      paramCount: 1,
    });
    task.resolve([handle0]);
    task.exit();
    return handle0;
  }
  _trampoline3.fnName = 'wasi:cli/stdout@0.2.3#getStdout';
  let trampoline3 = _trampoline3.manuallyAsync ? new WebAssembly.Suspending(_suspendingImport(2, _lowerImportBackwardsCompat.bind(
  null,
  ${LINKED}  ))) : _lowerImportBackwardsCompat.bind(
  null,
  ${LINKED}  );
  use(trampoline3);
`;

const STRAIGHT = `
  const _trampoline3 = function(arg0) {
    _checkMayLeave(2);
    let ret;
    try {
      ret = getStdout(arg0);
    } catch (err) {
      getOrCreateAsyncState(2).markTrapped(err);
      throw err;
    }

    return handle0;
  }
  _trampoline3.fnName = 'wasi:cli/stdout@0.2.3#getStdout';
  let trampoline3 = _trampoline3;
  use(trampoline3);
`;

Deno.test("callPlainImportsStraight: the call, its checks and its trap stay, the account of tasks goes", () => {
  assertEquals(callPlainImportsStraight(GLUE), { source: STRAIGHT, straight: 1, all: 1 });
});

Deno.test("callPlainImportsStraight: an import that may suspend, or is written in another way, stays as it was", () => {
  const others: [string, string][] = [
    ["let trampoline3 =", "_trampoline3.manuallyAsync = true;\n  let trampoline3 ="],
    ["isAsync: false,", "isAsync: true,"],
    ["funcTypeIsAsync: false,", "funcTypeIsAsync: true,"],
    ["componentIdx: 2,", "componentIdx: 1,"],
    ["importFn: _trampoline3,", "importFn: _trampoline4,"],
    ["const hostProvided = true;", "const hostProvided = false;"],
    ["task.resolve([handle0]);", "task.resolve(handle0);"],
    ["task.resolve([handle0]);", "task.resolve([handle0]);\n    task.exit();\n    task.resolve([handle0]);"],
    ["_trackHostOperation(() => ", "_trackAnother(() => "],
    ["task.setErrored(err);", "task.setError(err);"],
    ["return handle0;", "return task.handle;"],
    ["function(arg0)", "async function(arg0)"],
  ];
  for (const [from, to] of others) {
    const source = GLUE.replace(from, to);
    assert(source !== GLUE, from);
    assertEquals(callPlainImportsStraight(source), { source, straight: 0, all: 1 }, to);
  }
});

/**
 * One minified bundle per role, flat in one folder, so that a process loads only what its role needs: `main.js` picks
 * the role, and each role's code is one file, from which what it loads lazily is split off.
 *
 * An `import()` or `require()` that is not resolved here fails the build: in the executable it would read the disk.
 * @module
 */
import { build, type BuildOptions, type Metafile, type Plugin } from "esbuild";
import { join, normalize, relative, resolve } from "@std/path";
import { ROLES } from "./rooms.ts";

/** The bundles that load some of their code only when it is needed. */
const SPLIT: ReadonlySet<string> = new Set(["cli.js", "session.js", "cell.js", "worker.js", "loop.js"]);

/** What goes in and out of {@link bundleRoles}. */
export interface BundleOptions {
  /** The checkout: the import map of its `deno.json` and its `node_modules` resolve every name. */
  readonly root: string;
  /** The folder that the bundles are written to; made when missing. */
  readonly outputFolder: string;
  /** Texts for free identifiers of the source, by name. */
  readonly define: Readonly<Record<string, string>>;
  /** Asked before the build's own: how a test makes an executable that differs from the product. Default none. */
  readonly plugins?: readonly Plugin[];
}

/** Each file that goes into the executable → the files its bytes come from: paths in the checkout, or `npm:PACKAGE/PATH`. */
export type Sources = Readonly<Record<string, readonly string[]>>;

/** Writes all bundles, and gives what each was made from. @throws Error when one fails or an import is left open. */
export async function bundleRoles(options: BundleOptions): Promise<Sources> {
  const shared = sharedOptions(options);
  const made: Record<string, string[]> = {};
  for (const [entry, bundle] of Object.entries(ROLES)) {
    const { metafile } = await build({
      ...shared,
      entryPoints: { [bundle.replace(/\.js$/, "")]: join(options.root, entry) },
      splitting: SPLIT.has(bundle),
    });
    checkImports(metafile, options);
    for (const [output, parts] of Object.entries(metafile.outputs)) {
      made[outputName(output, options)] = sourcesOf(parts);
    }
  }
  return made;
}

/** Writes `main.js`, one bundle of `entry` and all that it imports, for a program beside the product. */
export async function bundleProgram(options: BundleOptions, entry: string): Promise<void> {
  const { metafile } = await build({ ...sharedOptions(options), entryPoints: { main: join(options.root, entry) } });
  checkImports(metafile, options);
}

/** The files that put bytes into an output; what was shaken off is not in it. */
export function sourcesOf({ inputs }: Metafile["outputs"][string]): string[] {
  return Object.entries(inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([path]) => path).sort();
}

function sharedOptions({ root, outputFolder, define, plugins = [] }: BundleOptions): BuildOptions & { metafile: true } {
  return {
    absWorkingDir: root,
    outdir: outputFolder,
    chunkNames: "[name]-[hash]",
    bundle: true,
    minify: true,
    metafile: true,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    target: "esnext",
    charset: "utf8",
    // As Deno reads it: an import that is not said to be of a type alone is kept.
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
    legalComments: "none",
    logLevel: "silent",
    logOverride: { "unsupported-dynamic-import": "error", "unsupported-require-call": "error", "direct-eval": "error" },
    define: Object.fromEntries(Object.entries(define).map(([name, value]) => [name, JSON.stringify(value)])),
    plugins: [...plugins, oneLanguage, denoNames(root)],
  };
}

/** Resolves names as Deno does: role entries to their bundles, the import map, `node:` left to the runtime. */
function denoNames(root: string): Plugin {
  const map = readImportMap(root);
  return {
    name: "deno-names",
    setup(setup) {
      setup.onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir, kind }) => {
        const role = ROLES[relative(root, resolve(resolveDir, path))];
        return role && kind === "dynamic-import" ? { path: `./${role}`, external: true } : undefined;
      });
      setup.onResolve({ filter: /^node:/ }, ({ path }) => ({ path, external: true }));
      setup.onResolve({ filter: /^[^./]/ }, ({ path, kind, pluginData }) => {
        const target = pluginData === MAPPED ? undefined : mapName(map, path);
        if (target === undefined) return undefined;
        if (target.startsWith("./")) return { path: join(root, target) };
        return setup.resolve(target, { resolveDir: root, kind, pluginData: MAPPED });
      });
    },
  };
}

/** Of zod's messages in 50 languages, which no bundler can tell to be unused, the one that it sets itself. */
const oneLanguage: Plugin = {
  name: "one-language",
  setup(setup) {
    setup.onResolve({ filter: /^\.\.\/locales\/index\.js$/ }, ({ path, resolveDir }) => {
      const isOfZod = /[\\/]zod[\\/]v4[\\/]\w+$/.test(resolveDir);
      return isOfZod ? { path: join(resolveDir, path, "..", "en.js") } : undefined;
    });
  },
};

const MAPPED = Symbol("already mapped");

function readImportMap(root: string): Record<string, string> {
  return JSON.parse(Deno.readTextFileSync(join(root, "deno.json"))).imports ?? {};
}

/** The map's target for a name, a `npm:` one as the bare name that `node_modules` knows; undefined when unmapped. */
export function mapName(map: Readonly<Record<string, string>>, name: string): string | undefined {
  const key = Object.keys(map)
    .filter((key) => key === name || (key.endsWith("/") && name.startsWith(key)))
    .sort((a, b) => b.length - a.length)[0];
  if (key === undefined) return undefined;
  const target = map[key] + name.slice(key.length);
  const npm = /^npm:\/?((?:@[^/@]+\/)?[^/@]+)(?:@[^/]+)?(\/.*)?$/.exec(target);
  return npm ? npm[1] + (npm[2] ?? "") : target;
}

/** Every import of every bundle is another bundle of this folder or a built-in module. */
function checkImports(metafile: Metafile, options: BundleOptions): void {
  const outputs = Object.keys(metafile.outputs).map((output) => outputName(output, options));
  const known = new Set([...Object.values(ROLES), ...outputs]);
  for (const [output, { imports }] of Object.entries(metafile.outputs)) {
    for (const { path, external } of imports) {
      if (path.startsWith("node:") || !external || known.has(normalize(path))) continue;
      throw new Error(`Bundle ${output}: found an import of ${path} left open, wanted it resolved`);
    }
  }
}

function outputName(output: string, { root, outputFolder }: BundleOptions): string {
  return relative(outputFolder, resolve(root, output));
}

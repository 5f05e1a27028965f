import type { PinnedPackage } from "./npm_package.ts";

/** The package whose archive holds the preview1 adapters, too large to install, and the SHA-256 of each. */
export const ADAPTERS = {
  package: {
    spec: "@bytecodealliance/jco@1.35.0",
    sha512: "O53cWIMm/M1SpwLxKRicvAMDnzWf4zWs6I6qFZIGbn3HUovDMCCe9blkGxxYuyocHjVf/cXgNmlMu/x7Tyi77A==",
    licence: "Apache-2.0 WITH LLVM-exception",
  },
  files: {
    command: "2a652d711c1fff34f9d5a0e073e50ef7eeb8fe7d8a6d559eae643a4c049a7b94",
    reactor: "b857310c4753c8fafaa0f890e9ccf978dc3d9dbe8804b1125291a627485041d0",
  },
} as const satisfies { package: PinnedPackage & { licence: string }; files: Readonly<Record<string, string>> };

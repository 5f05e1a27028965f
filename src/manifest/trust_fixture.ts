/** Gives the operator's consent to one digest: `trust_fixture.ts HOME DIGEST`. */
import { openTrust } from "./trust.ts";

const [home, digest] = Deno.args;
openTrust(home!).accept(digest!);

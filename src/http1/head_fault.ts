/** What is wrong with a message, in words that repeat none of it. Of a request it is its sender's fault, else the origin's. */
export class HeadFault extends Error {
  override readonly name = "HeadFault";
}

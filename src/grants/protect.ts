/** boll's own places, which no mount may reach. Paths need not exist or be real; they are resolved here. */
export interface ProtectedPlaces {
  /** `$BOLL_HOME`. */
  readonly home: string;
  /** `Deno.execPath()`. */
  readonly executable: string;
  /** `$XDG_RUNTIME_DIR/boll` or its fallback. */
  readonly runtime?: string;
}

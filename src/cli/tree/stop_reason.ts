/** The reason by which a run is ended that `boll stop` asked for; any other is the user's own signal. */
export const STOP_REASON = "stop";

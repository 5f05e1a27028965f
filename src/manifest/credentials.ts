/** Names of environment variables that hold credentials: those are secrets, never `env`. */
const CREDENTIAL_NAME = new RegExp(
  [
    "^AWS_",
    "(^|_)(KEYS?|APIKEY|TOKENS?|SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|PASS|PWD?|PAT)$",
    "(^|_)(CREDENTIALS?|AUTH|COOKIES?|BEARER|DSN|CONNECTION_STRING)$",
    "SECRET|PASSWORD|CREDENTIAL|API_?KEY|PRIVATE_?KEY|ACCESS_?KEY|AUTH_?TOKEN|ACCESS_?TOKEN",
    "^(DATABASE|REDIS|MONGO(DB)?|POSTGRES(QL)?|MYSQL|AMQP)_UR[IL]$",
    "^(NETRC|PGPASSFILE|DOCKER_AUTH_CONFIG|KUBECONFIG|SSH_AUTH_SOCK)$",
  ].join("|"),
  "i",
);

/** Whether a variable of this name usually holds a credential (`*_API_KEY`, `*_TOKEN`, `AWS_*`, …). */
export function isCredentialName(name: string): boolean {
  // The working directory is no password.
  return name !== "PWD" && name !== "OLDPWD" && CREDENTIAL_NAME.test(name);
}

/**
 * Shapes of well-known credentials, each with the name a message gives it. Every repetition is bounded: the text is an
 * enemy's, and an open one takes quadratic time.
 */
const CREDENTIAL_LITERALS: readonly (readonly [name: string, shape: RegExp])[] = [
  ["a private key", /-----BEGIN [A-Z ]{0,40}PRIVATE KEY/],
  ["an API key", /(^|[^A-Za-z0-9])(sk|pk|rk)-(?=\S{0,200}\d)[A-Za-z0-9_-]{16}/],
  ["an API key", /(^|[^A-Za-z0-9])(sk|pk|rk)_(live|test)_[A-Za-z0-9]{10}/],
  ["a GitHub token", /gh[pousr]_[A-Za-z0-9]{20}|github_pat_[A-Za-z0-9_]{20}/],
  ["a GitLab token", /glpat-[A-Za-z0-9_-]{16}/],
  ["a Hugging Face token", /(^|[^A-Za-z0-9])hf_[A-Za-z0-9]{20}/],
  ["an npm token", /(^|[^A-Za-z0-9])npm_[A-Za-z0-9]{30}/],
  ["an AWS access key", /(^|[^A-Za-z0-9])(AKIA|ASIA)[A-Z0-9]{16}([^A-Za-z0-9]|$)/],
  ["a Google API key", /AIza[A-Za-z0-9_-]{30}|ya29\.[A-Za-z0-9_-]{20}/],
  ["a Slack token", /xox[abeoprs]-[A-Za-z0-9-]{10}/],
  ["a JSON web token", /eyJ[A-Za-z0-9_-]{10,500}\.eyJ[A-Za-z0-9_-]{10}/],
  ["an authorization header", /\b(bearer|basic)\s{1,4}(?=\S{0,200}\d)[A-Za-z0-9+/._=-]{16}/i],
  ["a URL with a password", /[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@]{0,200}:[^\s/@]{1,200}@/i],
  ["a credential", /\b(api[_-]?key|access[_-]?token|auth[_-]?token|password|passwd|secret)=[^\s$]{8}/i],
];

/** Longer texts are not searched: the schema refuses them for their length. */
export const MAX_SEARCHED = 16_384;

/** What kind of credential `text` looks like, or nothing. The text itself must then never be shown. */
export function findCredential(text: string): string | undefined {
  if (text.length > MAX_SEARCHED) return undefined;
  return CREDENTIAL_LITERALS.find(([, shape]) => shape.test(text))?.[0];
}

/** The first `${NAME}` of a text. Its name is no secret. */
export function findReference(text: string): string | undefined {
  return /\$\{[^}]{0,64}\}?/.exec(text)?.[0];
}

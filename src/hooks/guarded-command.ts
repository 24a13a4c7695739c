/** The command that a client registers: some block what they do if a hook cannot start or fails. */
export function guardedCommand(path: string, argument: string): string {
  // Some clients wait for the children of a shell that they have ended.
  const start = `exec 3<&0; ${path} ${argument} <&3 & trap "kill $!" TERM INT HUP; wait $!`
  return `if [ -x ${path} ]; then ${start}; else cat >/dev/null; fi; exit 0`
}

/** A word of a shell that starts no program by itself. */
const word = String.raw`[\w./@%+=:,~-]+|"(?:[^"\`$]|\$(?!\())+"|'[^']+'`
const form = new RegExp(
  String.raw`^if \[ -x (?<path>${word}) \]; then exec 3<&0; \k<path> (?<argument>[\w ./]+) <&3 &`,
)

/** Whether a text is such a command and nothing else, whatever its program. */
export function isGuardedCommand(text: string): boolean {
  const { path, argument } = form.exec(text)?.groups ?? {}
  if (path === undefined || argument === undefined) return false
  return text === guardedCommand(path, argument)
}

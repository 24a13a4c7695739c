/**
 * What a program said last before it failed. An uncaught error ends a program of Node with its stack and
 * the version of Node, which help nobody; what it was about stands above them.
 */
export function lastComplaint(stderr: string): string {
  const lines = stderr.trimEnd().split('\n')
  const last = lines.at(-1) ?? ''
  if (!/^Node\.js v\d/.test(last)) return last.trim()
  const above = lines.slice(0, -1)
  const error = above.findLast((line) => /^(?:Uncaught )?[\w$.]*(?:Error|Exception)\b/.test(line))
  const said = error ?? above.findLast((line) => !/^(?:\s|\}|\(Use `node |$)/.test(line))
  return (said ?? last).trim()
}

/** Characters of what a server said that a reason has. */
const longest = 200

/**
 * Why a server failed, in one line: the first line of the message, and of what the server printed
 * the line that tells most, which is the first that speaks of an error, else the last.
 */
export function failureReason(message: string, stderrTail: string): string {
  const head = (message.split('\n')[0] ?? '').replace(/\. Its last error output:$/, '')
  const lines = stderrTail.split('\n').flatMap((line) => line.trim() || [])
  const telling = lines.find((line) => /error|fatal|cannot|failed/i.test(line)) ?? lines.at(-1)
  if (telling === undefined || head.includes(telling)) return head
  const said = telling.length > longest ? `${telling.slice(0, longest - 1)}…` : telling
  return `${head}: ${said}`
}

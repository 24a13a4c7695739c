/**
 * The part that our plugins for JavaScript clients share: asks the launcher, and gives undefined for
 * every failure, so that a prompt is never held up. Plain JavaScript for Node and Bun.
 */
export function askLauncher(command: string, platform: string): string {
  return `const command = ${JSON.stringify(command)}

function ask(request) {
  return new Promise((resolve) => {
    const child = spawn(command, { shell: true, stdio: ['pipe', 'pipe', 'ignore'] })
    const timer = setTimeout(() => done(undefined), 10000)
    let output = ''
    function done(context) {
      clearTimeout(timer)
      child.kill()
      resolve(context)
    }
    child.on('error', () => done(undefined))
    child.stdin.on('error', () => {})
    child.stdout.setEncoding('utf8')
    child.stdout.on('data', (text) => (output += text))
    child.on('close', () => {
      try {
        done(JSON.parse(output).additionalContext)
      } catch {
        done(undefined) // Nothing to add, or the hook could not run: the prompt goes on as it is.
      }
    })
    child.stdin.end(JSON.stringify({ hook_event_name: '${platform}', ...request }))
  })
}
`
}

/** A shell command that a body asks its client to run before the model reads it. */
export interface EmbeddedCommand {
  command: string
  /** The line of the body, from 1. */
  line: number
}

/**
 * The commands in a body: `!` before code in backticks, at the start of a line or after a blank, and
 * fenced blocks that open with ```` ```! ````. They are found so that they can be reported; running
 * text of a skill in a shell is nothing that Skillrail does.
 */
export function findEmbeddedCommands(body: string): EmbeddedCommand[] {
  const commands: EmbeddedCommand[] = []
  let block: EmbeddedCommand | undefined
  let fence: string | undefined
  for (const [index, line] of body.split('\n').entries()) {
    const opening = /^\s*(`{3,}|~{3,})(!?)/.exec(line)
    if (fence !== undefined) {
      if (opening?.[1]?.startsWith(fence) === true) {
        if (block !== undefined) commands.push(block)
        fence = undefined
        block = undefined
      } else if (block !== undefined) {
        block.command += block.command === '' ? line : `\n${line}`
      }
    } else if (opening !== null) {
      fence = opening[1] ?? ''
      if (opening[2] === '!') block = { command: '', line: index + 1 }
    } else {
      for (const match of line.matchAll(/(?<=^|\s)!`([^`]+)`/g)) {
        commands.push({ command: match[1] ?? '', line: index + 1 })
      }
    }
  }
  return commands
}

import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { askerOf, makeClient } from '../mcp/_project.ts'
import { program, type ServerProject } from './project.ts'

/** A client of our own server in the project, whose user approves every question. */
export async function overPipes({ directory, environment }: ServerProject, ...args: string[]) {
  const questions: string[] = []
  const client = makeClient({}, (message) => {
    questions.push(message)
    return { approve: true }
  })
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, 'mcp', 'serve', ...args],
    cwd: directory,
    env: environment,
    stderr: 'ignore',
  })
  await client.connect(transport)
  return { client, questions, ...askerOf(client) }
}

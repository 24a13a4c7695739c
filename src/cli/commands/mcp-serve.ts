import { exitCode, type ExitCode, UsageError } from '../../base/index.ts'
import { serveHttp, serveStdio } from '../../mcp/index.ts'
import { pointless } from '../../base/errors.ts'
import { listening } from '../_listening.ts'
import { answerMcpOffer } from '../_mcp-offer.ts'
import { mcpToken } from '../_mcp-token.ts'
import { mcpWorld } from '../_mcp-world.ts'
import { wholeNumber } from '../../base/option-values.ts'
import { type CommandContext, defineCommand, type LoadedCommand } from '../command.ts'

interface Options {
  http?: boolean | undefined
  port?: string | undefined
  tokenFile?: string | undefined
  session?: string | undefined
  yes?: boolean | undefined
  list?: boolean | undefined
  dryRun?: boolean | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .option('--http', 'serve Streamable HTTP on 127.0.0.1 instead of standard input and output')
      .option('--port <port>', 'for --http; default: any that is free')
      .option(
        '--token-file <file>',
        'for --http: keep the token there (0600) instead of printing it; one that is there is used',
      )
      .option('--session <id>', 'one session for all clients; default: one for each')
      .option('--yes', 'call tools that may change something without asking')
      .option('--list', 'show what it would offer, and serve nothing')
      .option('--dry-run', 'the same')
      .addHelpText(
        'after',
        `
In the configuration of an MCP client, with the directory of the project that has the package:
  {"mcpServers": {"skillrail": {"command": "npx", "args":
    ["--prefix", "DIR", "--no", "--", "skillrail", "-C", "DIR", "mcp", "serve"]}}}

Tools that may change something are called when the person at the client approves it (elicitation),
or with --yes.

Examples:
  $ skillrail mcp serve --list
  $ skillrail mcp serve --http --port 8931 --token-file ~/.local/state/skillrail/mcp-token
`,
      )
  },
  async run(context, _positionals, options) {
    refusePointless(options)
    const port = wholeNumber('--port', options.port, { least: 0, most: 65_535 })
    const world = mcpWorld(context, { yes: options.yes === true, session: options.session })
    if (options.list === true || options.dryRun === true)
      return await answerMcpOffer(context, world)
    if (options.http === true) return await overHttp(context, world, options, port)
    if (context.options.json) {
      const hint = 'Leave out --json, or add --list or --http.'
      throw new UsageError({
        code: 'wrong-use',
        message: '--json has nothing to print: standard output carries the protocol',
        hint,
      })
    }
    const { stdin, stdout } = process
    if (stdin.isTTY) {
      context.output.note(
        'This waits for an MCP client, which starts it by itself. skillrail mcp serve --list shows what it offers; Ctrl-C ends it.',
      )
    }
    await serveStdio({ world, stdin, stdout, signal: context.signal })
    return exitCode.done
  },
})

function refusePointless({ http, port, tokenFile }: Options): void {
  if (http === true) return
  if (port !== undefined) throw pointless('--port', '--http', 'Add --http.')
  if (tokenFile !== undefined) throw pointless('--token-file', '--http', 'Add --http.')
}

async function overHttp(
  context: CommandContext,
  world: Parameters<typeof serveHttp>[0]['world'],
  options: Options,
  port: number | undefined,
): Promise<ExitCode> {
  const { output, signal } = context
  const { token, file } = mcpToken(options.tokenFile, context)
  const served = await listening(port, () => serveHttp({ world, token, port }))
  const { address } = served
  if (context.options.json) output.json({ address, pid: process.pid, tokenFile: file })
  else output.line(`Serving MCP on ${address}. Ctrl-C ends it.`)
  const shown = file === undefined ? token : `<the text of ${file}>`
  const headers = { Authorization: `Bearer ${shown}` }
  const server = { type: 'http', url: address, headers }
  output.failure('For the configuration of a client, such as .mcp.json or .cursor/mcp.json:')
  output.failure(JSON.stringify({ mcpServers: { skillrail: server } }, null, 2))
  noteWhatChanges(options, context)
  await aborted(signal)
  await served.close()
  return exitCode.done
}

/** What a client was told of and the next start does not keep. */
function noteWhatChanges({ port, tokenFile }: Options, { output }: CommandContext): void {
  const isAny = port === undefined || Number(port) === 0
  const changing = [...(isAny ? ['port'] : []), ...(tokenFile === undefined ? ['token'] : [])]
  if (changing.length === 0) return
  const keeping = [
    ...(isAny ? ['--port'] : []),
    ...(tokenFile === undefined ? ['--token-file'] : []),
  ]
  output.note(
    `The next start has a new ${changing.join(' and a new ')}; with ${keeping.join(' and ')} it stays.`,
  )
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise((resolve) => {
    signal.addEventListener('abort', resolve, { once: true })
  })
}

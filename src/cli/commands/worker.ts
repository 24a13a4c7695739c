import { exitCode, safeLine, UsageError } from '../../base/index.ts'
import { startWorker } from '../../chain/restate/index.ts'
import { openProject, refusalIn } from '../_chain-project.ts'
import { registerWorkers } from '../_restate-register.ts'
import { acceptIn, skillsOf } from '../_worker-skills.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'
import { packageVersion } from '../version.ts'

interface Options {
  host: string
  port: string
  register?: string | undefined
  adminUrl?: string | undefined
  patience: string
  identityKey?: readonly string[] | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .option('--port <port>', 'where the server or the balancer finds this worker', '9080')
      .option('--host <address>', 'which of our addresses to listen on', '127.0.0.1')
      .option('--register <url>', 'tell the server this address, that of the balancer if any')
      .option('--admin-url <url>', 'the admin interface of the server, for --register')
      .option('--patience <seconds>', 'how long to look for a worker that has a skill', '60')
      .option('--identity-key <key>', 'take requests of this server only (repeatable)', collect)
      .addHelpText(
        'after',
        '\nExample:\n  $ skillrail worker --port 9081 --register http://127.0.0.1:9080\n',
      )
  },
  async run(context, _positionals, options) {
    const { output, runtime, settings, signal } = context
    const project = openProject(context)
    const worker = await startWorker({
      runtime,
      workspace: project.workspace,
      settings: settings.run,
      host: options.host,
      port: numberOf('--port', options.port, 65_535),
      accept: acceptIn(project),
      report: () => ({ skillrail: packageVersion(), skills: skillsOf(project) }),
      patienceMs: numberOf('--patience', options.patience, 86_400) * 1000,
      identityKeys: options.identityKey ?? [],
      refusalOf: refusalIn(project),
      onEvent(runId, event) {
        if (event.type === 'step-finished') {
          output.note(`${runId}  ${safeLine(event.step)}  ${event.status}  ${event.durationMs} ms`)
        } else if (event.type === 'step-started') {
          output.detail(`${runId}  ${safeLine(event.step)}  started`)
        }
      },
      onWarning: (message) => output.detail(safeLine(message)),
    })
    try {
      output.note(`This worker listens on ${options.host}:${worker.port}. Ctrl-C ends it.`)
      if (options.register !== undefined) {
        await registerWorkers(context, options.register, options.adminUrl)
      }
      await aborted(signal)
      return exitCode.done
    } finally {
      await worker.close()
    }
  },
})

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise((resolve) => {
    signal.addEventListener('abort', resolve, { once: true })
  })
}

function numberOf(option: string, text: string, maximum: number): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && value <= maximum) return value
  throw new UsageError({
    code: 'wrong-use',
    message: `${option} ${text}: a whole number from 0 to ${maximum} is needed`,
  })
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

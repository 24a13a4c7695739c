import { collect } from '../_collect.ts'
import { exitCode, safeLine } from '../../base/index.ts'
import { startWorker } from '../../chain/restate/index.ts'
import type { AgentCliName } from '../../exec/index.ts'
import { openProject, refusalIn } from '../_chain-project.ts'
import { pointless } from '../../base/errors.ts'
import { refuseWithoutModel } from '../_instructions.ts'
import { wholeNumber } from '../../base/option-values.ts'
import { registerWorkers } from '../_restate-register.ts'
import { runSettings } from '../_run-settings.ts'
import { clientNamed } from '../_via.ts'
import { workerExecutors } from '../_worker-executors.ts'
import { acceptIn, skillsOf } from '../_worker-skills.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'
import { packageVersion } from '../../base/runtime.ts'

interface Options {
  host?: string | undefined
  port?: string | undefined
  register?: string | undefined
  adminUrl?: string | undefined
  patience?: string | undefined
  via?: readonly string[] | undefined
  model?: readonly string[] | undefined
  baseUrl?: string | undefined
  tools?: string | undefined
  identityKey?: readonly string[] | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .option('--port <port>', 'where the server or the balancer finds this worker, else 9080')
      .option('--host <address>', 'which of our addresses to listen on, else 127.0.0.1')
      .option('--register <url>', 'tell the server this address, that of the balancer if any')
      .option('--admin-url <url>', 'the admin interface of the server, for --register')
      .option('--via <client>', 'also execute steps by this agent client (repeatable)', collect)
      .option('--model <provider:name>', 'also execute steps by this model (repeatable)', collect)
      .option('--base-url <url>', 'where the models are, for servers of your own')
      .option('--tools <names>', 'built-in tools for the models, separated by commas, or all')
      .option('--patience <seconds>', 'how long to look for a worker that has a skill, else 60')
      .option('--identity-key <key>', 'take requests of this server only (repeatable)', collect)
      .addHelpText(
        'after',
        '\nExample:\n  $ skillrail worker --port 9081 --register http://127.0.0.1:9080\n\nThe settings restate.* say the same for every start: see docs/reference/settings.md.\n',
      )
  },
  async run(context, _positionals, options) {
    const { output, runtime, settings, signal } = context
    const { restate } = settings
    const project = openProject(context)
    const host = options.host ?? restate.workerHost
    const patience = wholeNumber('--patience', options.patience, patienceRange) ?? restate.patience
    const port = wholeNumber('--port', options.port, portRange) ?? restate.workerPort
    const address = options.register ?? restate.workerAddress
    const models = options.model ?? restate.models
    const allowance = { clients: clientsOf(options.via ?? restate.via), models }
    refuseWithoutModel(
      models.length > 0,
      options,
      'Add --model provider:name, or set restate.models.',
    )
    if (options.adminUrl !== undefined && address === '') {
      const hint = 'Add --register with the address that the server finds this worker at.'
      throw pointless('--admin-url', '--register', hint)
    }
    const byModel =
      models.length === 0
        ? []
        : [await (await import('../_model-executor.ts')).modelExecutorOf(project, options, models)]
    const worker = await startWorker({
      runtime,
      workspace: project.workspace,
      settings: runSettings(project),
      host,
      port,
      accept: acceptIn(project, allowance),
      executors: (files) => [...workerExecutors(project, allowance, files), ...byModel],
      report: () => ({
        skillrail: packageVersion(),
        skills: skillsOf(project),
        clients: [...allowance.clients, ...models],
      }),
      patienceMs: patience * 1000,
      resultLimit: restate.resultLimit,
      identityKeys: options.identityKey ?? restate.identityKeys,
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
      output.note(`This worker listens on ${host}:${worker.port}. Ctrl-C ends it.`)
      if (address !== '') await registerWorkers(context, address, options.adminUrl)
      await aborted(signal)
      return exitCode.done
    } finally {
      await worker.close()
    }
  },
})

/** Seconds, up to a day. */
const patienceRange = { least: 0, most: 86_400 }
const portRange = { least: 0, most: 65_535 }

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise((resolve) => {
    signal.addEventListener('abort', resolve, { once: true })
  })
}

function clientsOf(names: readonly string[]): AgentCliName[] {
  return [...new Set(names)].flatMap((name) => clientNamed(name) ?? [])
}

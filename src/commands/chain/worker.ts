import { duration } from '#chain/timeline'
import type { ChainEvent } from '#chain/engine'
import { type Context, defineCommand, option, Serving } from '#core/command'
import { exitCode } from '#core/errors'
import { aborted } from '#core/runtime'
import { safeLine } from '#core/text'
import { startProjectWorker } from '#project/worker'

interface WorkerResult {
  host: string
  port: number
  registered?: string | undefined
}

export const command = defineCommand<WorkerResult, ChainEvent>()({
  options: {
    port: option.integer('--port <port>', 'the port to listen on, else 9080', {
      least: 0,
      most: 65_535,
    }),
    host: option.text('--host <address>', 'the address to listen on, else 127.0.0.1'),
    register: option.text(
      '--register <url>',
      'register the worker with the server under this address',
    ),
    adminUrl: option.text('--admin-url <url>', 'the admin interface of the server, for --register'),
    via: option.list('--via <client>', 'allow this agent client (repeatable)'),
    model: option.list('--model <provider:name>', 'allow this model (repeatable)'),
    baseUrl: option.text('--base-url <url>', 'the address of the model server'),
    tools: option.text('--tools <names>', 'built-in tools for the models, or all'),
  },
  details: 'The settings restate.* set defaults.',
  examples: ['runs worker --port 9081 --register http://127.0.0.1:9080'],
  async run(context, values) {
    const worker = await startProjectWorker(context, values, (runId, event) => {
      noteEvent(context, runId, event)
    })
    const { host, port, registered } = worker
    const ended = aborted(context.signal).then(async () => {
      await worker.close()
      return exitCode.done
    })
    return new Serving<WorkerResult>({ host, port, registered }, ended)
  },
  render: () => '',
})

function noteEvent(context: Context, runId: string, event: ChainEvent): void {
  if (event.type === 'step-finished') {
    context.note(
      `${runId}  ${safeLine(event.step)}  ${event.status}  ${duration(event.durationMs)}`,
    )
  } else if (event.type === 'step-started') {
    context.note(`${runId}  ${safeLine(event.step)}  started`, 'detail')
  }
}

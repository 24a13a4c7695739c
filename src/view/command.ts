import { type Context, defineCommand, option, Serving } from '#core/command'
import { settingsOfCall } from '#core/configuration'
import { exitCode, messageOf } from '#core/errors'
import { listening } from '#core/local-server'
import { openAddress } from '#core/open-address'
import { safeLine } from '#core/text'
import { openProject } from '#project/chains'
import { toolProject } from '#tools/project-tools'
import { openView } from './open-view.ts'
import { pageText } from './page-text.ts'
import { projectView } from './project-view.ts'

interface ViewResult {
  address: string
  port: number
  pid: number
  project: string
}

/** The place of a run in the page. */
function placeOfRun(context: Context, name: string): string {
  const { store } = openProject(context)
  const runId = store.idOf(name)
  store.read(runId)
  return `/runs/${encodeURIComponent(runId)}`
}

export const command = defineCommand<ViewResult, { next: string }>()({
  arguments: { '[run]': 'a run to open the page at' },
  options: {
    port: option.integer('--port <number>', 'the port on 127.0.0.1 (default: a free port)', {
      least: 0,
      most: 65_535,
    }),
    open: option.flag('--open', 'open the page in your browser'),
  },
  details: `The page approves and rejects gates where you click, and changes nothing else; it starts no tool or server. An approved run continues in this process. The page opens only with the printed address, which works once; after it is used, the next one is printed.`,
  examples: ['view --open', 'view latest --open'],
  async run(context, { port, open, arguments: [name] }) {
    const { runtime, globals, signal } = context
    const page = await pageText()
    const place = name === undefined ? undefined : placeOfRun(context, name)
    const work = new Set<Promise<void>>()
    const onWork = (rest: Promise<unknown>): void => {
      const note = (error: unknown): void => context.note(messageOf(error), 'failure')
      const kept: Promise<void> = rest.then(() => undefined, note).finally(() => work.delete(kept))
      work.add(kept)
    }
    const view = await listening(port, () =>
      openView({
        view: projectView(context, { onWork }),
        place,
        page,
        runtime,
        check: () => void settingsOfCall(runtime, globals),
        port,
        onUsed: (next) => context.emit({ next }),
        onUsedAgain: () => context.note(usedAgainLine, 'failure'),
        signal,
      }),
    )
    if (open) {
      void openAddress(view.addressToOpen, runtime).then((isOpened) => {
        if (isOpened) return
        context.note('No browser could be opened; open the address yourself.', 'failure')
      })
    }
    const { address, port: opened } = view
    return new Serving(
      { address, port: opened, pid: process.pid, project: toolProject(context) },
      // A run that continues here is interrupted, and ends its step first.
      view.ended.then(async () => {
        await Promise.all(work)
        return exitCode.done
      }),
    )
  },
  render: ({ address }) => `${address}\n`,
  notes: ({ project }) => [`Shows ${safeLine(project)}. Ctrl-C ends it.`],
  progress: () => ({
    event: ({ next }) => ({
      line: 'It was opened. For another tab, since an address works once:',
      stdout: `${next}\n`,
    }),
  }),
})

const usedAgainLine =
  'Warning: an address was opened that had been used before. If you opened it only once, another program used it first and can read this page. End the view with Ctrl-C and start it again.'

import { defineCommand, option, Serving } from '#core/command'
import { settingsOfCall } from '#core/configuration'
import { exitCode } from '#core/errors'
import { listening } from '#core/local-server'
import { openAddress } from '#core/open-address'
import { safeLine } from '#core/text'
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

export const command = defineCommand<ViewResult, { next: string }>()({
  options: {
    port: option.integer('--port <number>', 'the port on 127.0.0.1 (default: a free port)', {
      least: 0,
      most: 65_535,
    }),
    open: option.flag('--open', 'open the page in your browser'),
  },
  details: `Read-only: the page runs, approves and changes nothing, and starts no tool or server. It opens only with
the printed address, which works once; after it is used, the next one is printed.`,
  examples: ['view --open'],
  async run(context, { port, open }) {
    const { runtime, globals, signal } = context
    const page = await pageText()
    const view = await listening(port, () =>
      openView({
        view: projectView(context),
        page,
        runtime,
        check: () => void settingsOfCall(runtime, globals),
        port,
        onUsed: (next) => context.emit({ next }),
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
      view.ended.then(() => exitCode.done),
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

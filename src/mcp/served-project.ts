import type { Context } from '#core/command'
import { discoverOptionsFrom } from '#library/discover'
import { SkillManager } from '#library/manager'
import { toolProject } from '#tools/commands/project-tools'
import { configurationDiagnostics } from '#tools/server/errors'
import { openProjectServers, type ProjectServers } from '#tools/server/project-servers'
import { forgetSessions, sessionName } from '#tools/workflow/session'

/** How the IDs of sessions begin that the user did not name. */
const ownSession = 'mcp-'

export class ServedProject {
  /** Asks no question at the terminal: the client is asked. */
  readonly context: Context
  readonly workspace: string
  /** The user approved in advance whatever a tool may change. */
  readonly yes: boolean
  /** Servers start with the first call that needs them. */
  readonly servers: ProjectServers
  readonly #session: string | undefined
  readonly #hasOwnSessions: boolean

  /** @throws {SkillrailError} for an invalid session ID */
  constructor(given: Context, { yes, session }: { yes: boolean; session?: string | undefined }) {
    const ask: Context['ask'] = ({ otherwise }) => Promise.reject(otherwise())
    this.context = { ...given, interactive: false, ask }
    const { runtime, settings } = given
    const project = toolProject(given)
    this.workspace = project
    this.yes = yes
    this.#session = session
    this.#hasOwnSessions = sessionName({ runtime, id: session }).from === 'default'
    this.servers = openProjectServers({
      project,
      runtime,
      settings,
      onLog: (line) => given.note(line, 'detail'),
    })
    given.diagnose(configurationDiagnostics(this.servers.configuration))
  }

  newSession(): string | undefined {
    if (!this.#hasOwnSessions) return this.#session
    const { runtime, settings } = this.context
    forgetSessions({ project: this.workspace, runtime, settings }, ownSession)
    return `${ownSession}${runtime.id()}`
  }

  /** The context of one request: it ends with the request, and notes become part of its answer. */
  during(signal: AbortSignal, note: (line: string) => void = () => undefined): Context {
    const { context } = this
    return {
      ...context,
      signal: AbortSignal.any([signal, context.signal]),
      note,
      diagnose: () => undefined,
    }
  }

  get discovery() {
    const { runtime, settings } = this.context
    return discoverOptionsFrom(runtime, settings)
  }

  skills(): SkillManager {
    return new SkillManager(this.discovery)
  }
}

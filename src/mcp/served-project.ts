import type { Context } from '#core/command'
import { settingsOfCall } from '#core/configuration'
import type { Settings } from '#core/settings'
import { discoverOptionsFrom } from '#library/discover'
import { SkillManager } from '#library/manager'
import { toolProject } from '#tools/project-tools'
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
    // Nothing else says here that no server can be used.
    const { diagnostics } = this.servers.configuration
    given.diagnose(diagnostics.filter(({ severity }) => severity !== 'info'))
  }

  newSession(): string | undefined {
    if (!this.#hasOwnSessions) return this.#session
    const { runtime } = this.context
    forgetSessions({ project: this.workspace, runtime, settings: this.#settings() }, ownSession)
    return `${ownSession}${runtime.id()}`
  }

  /**
   * The context of one request: it ends with the request, and notes become part of its answer.
   * @throws {SettingsError} where the settings have errors by now.
   */
  during(signal: AbortSignal, note: (line: string) => void = () => undefined): Context {
    const { context } = this
    return {
      ...context,
      settings: this.#settings(),
      signal: AbortSignal.any([signal, context.signal]),
      note,
      diagnose: () => undefined,
    }
  }

  get discovery() {
    return discoverOptionsFrom(this.context.runtime, this.#settings())
  }

  skills(): SkillManager {
    return new SkillManager(this.discovery, false)
  }

  /** Read for each request, so that a restriction counts as soon as it is written. */
  #settings(): Settings {
    const { runtime, globals } = this.context
    return settingsOfCall(runtime, globals).settings
  }
}

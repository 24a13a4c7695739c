import type { Context } from '#core/command'
import { settingsOfCall } from '#core/configuration'
import type { Settings } from '#core/settings'
import { discoverOptionsFrom } from '#library/discover'
import { SkillManager } from '#library/manager'
import { toolProject } from '#tools/project-tools'
import { openProjectServers, type ProjectServers } from '#tools/server/project-servers'
import { forgetSessions, sessionName } from '#tools/workflow/session'

/** Prefix of session IDs that the user did not choose. */
const sessionPrefix = 'mcp-'

export class ServedProject {
  /** Asks no question at the terminal: the client is asked. */
  readonly context: Context
  readonly workspace: string
  /** The user approved all changes in advance. */
  readonly yes: boolean
  /** Servers start with the first call that needs them. */
  readonly servers: ProjectServers
  readonly #session: string | undefined
  readonly #hasOwnSessions: boolean

  /** @throws {SkillrailError} for an invalid session ID */
  constructor(
    commandContext: Context,
    { yes, session }: { yes: boolean; session?: string | undefined },
  ) {
    const ask: Context['ask'] = ({ otherwise }) => Promise.reject(otherwise())
    this.context = { ...commandContext, interactive: false, ask }
    const { runtime, settings } = commandContext
    const project = toolProject(commandContext)
    this.workspace = project
    this.yes = yes
    this.#session = session
    this.#hasOwnSessions = sessionName({ runtime, id: session }).from === 'default'
    this.servers = openProjectServers({
      project,
      runtime,
      settings,
      onLog: (line) => commandContext.note(line, 'detail'),
    })
    // Nothing else reports that no server can be used.
    const { diagnostics } = this.servers.configuration
    commandContext.diagnose(diagnostics.filter(({ severity }) => severity !== 'info'))
  }

  newSession(): string | undefined {
    if (!this.#hasOwnSessions) return this.#session
    const { runtime } = this.context
    forgetSessions({ project: this.workspace, runtime, settings: this.#settings() }, sessionPrefix)
    return `${sessionPrefix}${runtime.id()}`
  }

  /**
   * The context of one request: it ends with the request, and notes become part of its answer.
   * @throws {SettingsError} if the settings have errors now.
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

import { isObject } from '../../base/index.ts'
import type { RawServer } from './model.ts'
import { plainServer, type ServerShape } from './shape.ts'

/** Codex, `[mcp_servers.NAME]` in config.toml; time-outs in seconds. */
export const codex: ServerShape = {
  syntax: 'toml',
  groups(root) {
    const entries = root['mcp_servers']
    return isObject(entries) ? [{ place: ['mcp_servers'], entries }] : []
  },
  read(fields): RawServer | undefined {
    const command = fields.text('command')
    const url = fields.text('url')
    if (!command && !url) {
      fields.wrong('it has neither a command nor a url')
      return undefined
    }
    const startup = fields.amount('startup_timeout_sec')
    const call = fields.amount('tool_timeout_sec')
    return {
      ...plainServer,
      transport: command ? 'stdio' : 'http',
      command,
      url,
      args: fields.texts('args') ?? [],
      env: fields.textMap('env'),
      envNames: fields.texts('env_vars') ?? [],
      cwd: fields.text('cwd'),
      headers: fields.textMap('http_headers'),
      envHeaders: fields.textMap('env_http_headers'),
      tokenName: fields.text('bearer_token_env_var'),
      disabled: fields.flag('enabled') === false,
      allow: fields.texts('enabled_tools'),
      deny: fields.texts('disabled_tools'),
      startupTimeoutMs:
        startup === undefined ? fields.amount('startup_timeout_ms') : startup * 1000,
      callTimeoutMs: call === undefined ? undefined : call * 1000,
    }
  },
}

import { rmSync } from 'node:fs'
import path from 'node:path'
import { readServerConfiguration } from '../../../src/tools/config/read-configuration.ts'
import type { ServerDefinition } from '../../../src/tools/config/model.ts'
import { emptyMachine, scratchFolder, writeIn } from '../_scratch.ts'
import { choiceAndText, demand } from '../target.ts'

export const name = 'servers'
export const seeds: readonly string[] = [
  '0{"mcpServers":{"a":{"command":"npx","args":["-y",1],"env":{"A":"${TOKEN:-x}","B":"${NONE}"}}}}',
  '1{"mcpServers":{"a":{"url":"https://example.com/${env:TOKEN}","headers":{"X":"y"}}}}',
  '2{"inputs":[{"id":"k","default":"d"}],"servers":{"a":{"type":"sse","url":"http://x/${input:k}"}}}',
  '3{"mcpServers":{"a":{"httpUrl":"https://x/$TOKEN","timeout":5,"includeTools":["b"]}}}',
  '4[mcp_servers.a]\ncommand = "x"\nargs = ["${TOKEN}"]\nbearer_token_env_var = "TOKEN"\n',
  '5{"mcp":{"a":{"type":"local","command":["x","{env:TOKEN}"],"enabled":false},"servers":{"b":{"url":"http://y"}}}}',
  '6{"projects":{"/p":{"mcpServers":{"a":{"command":"x"}}}},"mcpServers":{"b":{"command":"y"}}}',
  '7{"mcpServers":{"a":{"serverUrl":"http://x","disabled":true,"disabledTools":[]}}}',
  '0{"mcpServers":{"a":{"type":"constructor","url":"http://x"},"b":{"command":"${toString}"}}}',
  '4[mcp_servers.a]\nurl = "http://x"\nbearer_token_env_var = "constructor"\nenv_vars = ["valueOf"]\n',
  `0{"mcpServers":{"a":${'['.repeat(6000)}${']'.repeat(6000)}}}`,
]
export const words: readonly string[] = [
  '"mcpServers":{',
  '"command":"x"',
  '"url":"http://x"',
  '"type":"constructor"',
  '__proto__',
  '${env:constructor}',
  '${toString}',
  '{env:valueOf}',
  '{file:/etc/hostname}',
  '$TOKEN',
  '"envFile":"a"',
  '[mcp_servers.a]\n',
  'env_http_headers = { A = "hasOwnProperty" }\n',
  '{"a":{',
]

const folder = scratchFolder()
const runtime = emptyMachine(folder)
const project = runtime.cwd
/** A file of each shape: of the project, and at odd choices of the user. */
const shapes: readonly (readonly [project: string, user: string])[] = [
  ['.mcp.json', '.claude.json'],
  ['.cursor/mcp.json', '.cursor/mcp.json'],
  ['.vscode/mcp.json', '.config/Code/User/mcp.json'],
  ['.gemini/settings.json', '.gemini/settings.json'],
  ['.codex/config.toml', '.codex/config.toml'],
  ['opencode.jsonc', '.config/opencode/opencode.json'],
  ['.opencode/opencode.json', '.claude.json'],
  ['.mcp.json', '.codeium/windsurf/mcp_config.json'],
]
const secret = 'token-of-the-user'

/** Nothing throws; every server has one form; an untrusted project receives none of our data. */
export function fuzz(data: Uint8Array): void {
  const { choice, text } = choiceAndText(data)
  const [ofProject, ofUser] = shapes[choice % shapes.length] ?? ['', '']
  checkProject(path.join(project, ofProject), text)
  checkUser(path.join(runtime.home, ofUser), text)
}

function checkProject(file: string, text: string): void {
  writeIn(file, text)
  try {
    const { servers, diagnostics } = readServerConfiguration({ project, runtime })
    for (const server of servers) {
      checkForm(server)
      demand(server.blocked !== undefined && !server.trusted, 'a server that may start', server)
    }
    const printed = text.includes(secret) ? '' : JSON.stringify([servers, diagnostics])
    demand(!printed.includes(secret), 'a secret in an untrusted project', servers)
  } finally {
    rmSync(file)
  }
}

function checkUser(file: string, text: string): void {
  writeIn(file, text)
  try {
    const { servers, files, diagnostics } = readServerConfiguration({ project, runtime })
    for (const server of servers) checkForm(server)
    const broken = files.some(({ state }) => state === 'broken')
    demand(!broken || diagnostics.length > 0, 'a broken file without a word')
    const lines = text.split('\n').length
    for (const { line = 1, message } of diagnostics) {
      demand(line >= 1 && line <= lines + 1, 'a line outside of the file', line, message)
      demand(text.includes('undefined') || !message.includes('undefined'), 'no words', message)
    }
  } finally {
    rmSync(file)
  }
}

function checkForm({
  name,
  transport,
  startupTimeoutMs,
  callTimeoutMs,
  ...rest
}: ServerDefinition): void {
  demand(/^[^\p{Cc}]{1,100}$/u.test(name) && name !== '__proto__', 'a name', name)
  demand(['stdio', 'http', 'sse'].includes(transport.kind), 'no transport', transport)
  const texts =
    transport.kind === 'stdio'
      ? [transport.command, ...transport.args, ...Object.values(transport.env)]
      : [transport.url, ...Object.values(transport.headers)]
  for (const each of texts) demand(typeof each === 'string', 'no text', each)
  if (transport.kind === 'stdio')
    demand(transport.command !== '' || rest.blocked !== undefined, 'no command')
  for (const limit of [startupTimeoutMs, callTimeoutMs]) {
    demand(Number.isFinite(limit) && limit > 0, 'no time', limit)
  }
}

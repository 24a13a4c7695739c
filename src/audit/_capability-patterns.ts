import type { AuditCode } from './rules.ts'

/**
 * A fact that a text shows by a word. Every quantifier has an upper bound, so that no text makes a
 * pattern slow: a test holds the table to it.
 */
export interface CapabilityPattern {
  code: AuditCode
  pattern: RegExp
  /** What the fact is about: a text, or the first group that matched. Default: the whole match. */
  subject?: string | undefined
}

/** Before a word that a shell would start: the beginning of a line, a blank, or what ends a command. */
const command = '(?<=^|[\\s`($|;&"\'])'

function words(list: string): string {
  return list.split(' ').join('|')
}

function rule(code: AuditCode, pattern: string, subject?: string, flags = 'gm'): CapabilityPattern {
  return { code, pattern: new RegExp(pattern, flags), subject }
}

export const capabilityPatterns: readonly CapabilityPattern[] = [
  rule(
    'network-call',
    `${command}(${words('curl wget nc ncat netcat telnet ssh scp sftp rsync')})(?= {1,9}[-\\w"'$./~@])`,
  ),
  rule('network-call', '\\b(fetch|urlopen|urlretrieve|createConnection)\\('),
  rule('network-call', '\\b(requests|httpx|axios)\\.(?:get|post|put|patch|delete|request|head)\\('),
  rule('network-call', '\\b(aiohttp|urllib\\.request|http\\.client|XMLHttpRequest|WebSocket)\\b'),
  rule('network-call', '\\b(socket\\.socket|net\\.connect|https?\\.(?:get|request))\\('),
  rule('network-call', '\\b(Invoke-WebRequest|Invoke-RestMethod|Net\\.WebClient|TcpClient)\\b'),
  rule('network-call', '(/dev/tcp/)'),
  rule(
    'download-and-run',
    `${command}(curl|wget)[^\\n|]{1,400}\\|\\s{0,4}(?:sudo\\s{1,4})?(?:ba|z|da|k)?(?:sh|python3?|node|perl|ruby)\\b`,
  ),
  rule('download-and-run', '(?:ba|z)?(?:sh|source|\\.) {1,4}<\\( {0,4}(curl|wget)\\b'),
  rule(
    'download-and-run',
    '\\b(iwr|irm|Invoke-WebRequest)\\b[^\\n|]{1,300}\\| {0,4}iex\\b',
    undefined,
    'gim',
  ),
  rule(
    'credential-variable',
    '(?:\\$\\{?|\\benv\\.|\\benv\\[["\']|\\bgetenv\\(["\']|\\benviron(?:\\.get\\(|\\[)["\']|\\$env:)' +
      '([A-Z][A-Z0-9_]{0,60}(?:TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIALS))\\b',
  ),
  rule(
    'credential-file',
    '(\\.ssh/|\\bid_(?:rsa|ed25519)\\b|\\.aws/|\\.netrc\\b|\\.npmrc\\b|\\.pypirc\\b|\\.kube/config|' +
      '\\.docker/config\\.json|\\.git-credentials|\\.config/gcloud|\\.config/gh/|\\.gnupg\\b|' +
      '/etc/shadow\\b|/etc/passwd\\b|Login Data\\b|login\\.keychain|wallet\\.dat)',
  ),
  rule(
    'credential-file',
    `(?<=^|[\\s\`"'/(])(\\.env(?:\\.(?:local|dev|development|prod|production|staging|test))?)(?![\\w(\\[]|\\.\\w)`,
  ),
  rule(
    'shell-execution',
    '\\b(subprocess|os\\.system|os\\.popen|os\\.exec[lv]p?e?|pty\\.spawn)\\b',
  ),
  rule(
    'shell-execution',
    '\\b(child_process|execSync|spawnSync|execFile|Deno\\.Command|Bun\\.spawn)\\b',
  ),
  rule(
    'shell-execution',
    '\\b(Runtime\\.getRuntime|ProcessBuilder|Process\\.Start|Start-Process)\\b',
  ),
  rule('shell-execution', `${command}((?:ba|z|da)?sh -l?c|cmd(?:\\.exe)? /c|powershell|pwsh)(?= )`),
  rule('evaluation', '(?<![\\w.])(eval|new Function|execfile|compile)\\((?!\\))'),
  rule('evaluation', `${command}(eval) ["'$\`]`),
  rule('evaluation', '(?<![\\w.])(exec)\\((?=["\'a-z])'),
  rule('evaluation', '\\b(Invoke-Expression|iex)\\b(?= )'),
  rule(
    'evaluation',
    '\\b(pickle\\.loads?|marshal\\.loads|yaml\\.unsafe_load|vm\\.runIn\\w{1,20})\\(',
  ),
  rule(
    'package-install',
    `${command}(npm (?:install|i|ci|exec)|npx|pnpm (?:add|install|dlx)|yarn (?:add|dlx)|bunx?|bun add|` +
      'pip3? install|pipx (?:install|run)|uv (?:add|pip)|uvx|poetry add|conda install|' +
      'brew install|apt(?:-get)? install|apk add|dnf install|yum install|pacman -S|' +
      'gem install|cargo install|go install|dotnet (?:tool install|add)|winget install|' +
      'choco install|composer require|claude plugin install|skills add)(?= {1,9}[-\\w"\'@$./])',
  ),
  rule(
    'persistence',
    '(\\bcrontab\\b|/etc/cron\\.|\\blaunchctl\\b|LaunchAgents|LaunchDaemons|' +
      'systemctl (?:--user )?enable|/etc/systemd|\\.config/autostart|\\bschtasks\\b|' +
      'CurrentVersion\\\\{1,2}Run|\\.git/hooks|/etc/rc\\.local|authorized_keys|' +
      '\\.(?:bashrc|bash_profile|zshrc|zprofile|zshenv)\\b|[~/]\\.profile\\b|\\$PROFILE\\b)',
  ),
  rule('privilege', `${command}(sudo|doas|setcap|chown root|runas)(?= )`),
  rule('privilege', '\\b(chmod (?:777|\\+s|u\\+s|a\\+rwx|4[0-7]{3}))\\b'),
  rule(
    'privilege',
    '(--dangerously-skip-permissions|--dangerously-bypass-approvals-and-sandbox|bypassPermissions|' +
      '--no-sandbox|--privileged|--yolo\\b|--allow-all-tools|Set-ExecutionPolicy)',
  ),
  rule('deletion', `${command}(rm -(?:rf|fr|r -f|f -r)|mkfs|shred|dd if=|Remove-Item -Recurse)\\b`),
  rule(
    'deletion',
    '\\b(shutil\\.rmtree|rimraf|git push (?:--force|-f)|git reset --hard|git clean -\\w{1,8})\\b',
  ),
  rule('deletion', '\\b(DROP (?:TABLE|DATABASE|SCHEMA)|TRUNCATE TABLE)\\b'),
  rule(
    'mcp-configuration',
    '("mcpServers"|\\[mcp_servers\\.[\\w-]{1,60}\\]|\\b(?:claude|codex|gemini) mcp add\\b)',
  ),
  rule(
    'agent-configuration',
    '(\\.claude/settings(?:\\.local)?\\.json|\\.claude\\.json|\\.codex/config\\.toml|\\.gemini/settings\\.json|' +
      '\\.cursor/(?:mcp|hooks)\\.json|\\.vscode/(?:settings|tasks|mcp)\\.json|opencode\\.jsonc?\\b)',
  ),
  rule('decoding', `${command}(base64 (?:-d|-D|--decode))\\b`),
  rule(
    'decoding',
    '\\b(atob|b64decode|FromBase64String|fromhex|unhexlify|String\\.fromCharCode)\\(',
  ),
  rule('decoding', '\\b(xxd -r)\\b'),
  rule(
    'decode-and-run',
    '\\b(base64 (?:-d|-D|--decode)|xxd -r)\\b[^\\n|]{0,80}\\| {0,4}(?:sudo )?(?:(?:ba|z|da)?sh|python3?|node|perl)\\b',
  ),
  rule('decode-and-run', '\\b(eval|exec)\\((?:atob|base64\\.b64decode|Buffer\\.from)\\('),
  rule('decoding', '(Buffer\\.from\\([^\\n)]{1,200}["\'](?:base64|hex)["\']\\))', 'Buffer.from'),
  rule(
    'override-phrase',
    '\\b(?:ignore|disregard|forget|override)\\s{1,3}(?:all\\s{1,3}|any\\s{1,3}|the\\s{1,3}|your\\s{1,3}){0,2}' +
      '(?:previous|prior|earlier|above|preceding|system)\\s{1,3}(?:instructions?|prompts?|rules|guidelines)\\b',
    'earlier instructions',
    'gi',
  ),
  rule(
    'concealment-phrase',
    "\\b(?:do not|don't|never|without)\\s{1,3}(?:tell|telling|inform|informing|notify|notifying|alert|alerting)\\s{1,3}" +
      '(?:the\\s{1,3}|a\\s{1,3})?(?:users?|humans?|person|developer|anyone)\\b',
    'not telling the user',
    'gi',
  ),
  rule(
    'concealment-phrase',
    "\\b(?:do not|don't|never)\\s{1,3}mention\\s{1,3}this\\b",
    'not mentioning it',
    'gi',
  ),
]

/** Hosts of addresses; names and passwords before an `@` are no part of what is shown. */
export const addressPattern: RegExp =
  /\b(?:https?|wss?|ftp|git|ssh):\/\/(?:[^\s/@"'`<>]{0,200}@)?([A-Za-z0-9[\]:._${}<>*-]{1,253})/g

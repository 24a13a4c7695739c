import type { AuditCode } from './rules.ts'

export interface Capability {
  code: AuditCode
  says: string
  /** What the fact is about; default: the first group that matched. */
  subject?: string
  /** Every quantifier has an upper bound, so that no text makes a pattern slow. */
  patterns: readonly RegExp[]
  /** What must stand at most {@link nearby} characters before or behind. */
  near?: RegExp
  /** A line with this says the opposite. */
  unless?: RegExp
}

/** Makes a pattern of a text without escapes, in which `…80` is up to 80 characters of one line. */
export function written(flags: string, blank = ' ') {
  return ({ raw }: TemplateStringsArray, ...parts: string[]): RegExp => {
    const text = String.raw({ raw }, ...parts).replaceAll(' ', blank)
    return new RegExp(text.replaceAll(/…(\d+)/g, String.raw`[^\n]{0,$1}`), flags)
  }
}

export const files = written('gm')

/** Words that a shell would start: at the beginning of a line, or behind what ends a command. */
const command: typeof files = ({ raw }, ...parts) =>
  files`(?<=^|[\s\`($|;&"'])${String.raw({ raw }, ...parts)}`

const packageCommands = [
  'npm (?:install|i|ci|exec)|npx|pnpm (?:add|install|dlx)|yarn (?:add|dlx)|bunx?|bun add',
  'pip3? install|pipx (?:install|run)|uv (?:add|pip)|uvx|poetry add|conda install',
  'brew install|apt(?:-get)? install|apk add|dnf install|yum install|pacman -S|gem install',
  'cargo install|go install|dotnet (?:tool install|add)|winget install|choco install',
  'composer require|claude plugin install|skills add',
].join('|')

export const capabilities: readonly Capability[] = [
  {
    code: 'network-call',
    says: 'talks to the network',
    patterns: [
      command`(curl|wget|nc|ncat|netcat|telnet|ssh|scp|sftp|rsync)(?= {1,9}[-\w"'$./~@])`,
      files`\b(fetch|urlopen|urlretrieve|createConnection)\(`,
      files`\b(requests|httpx|axios)\.(?:get|post|put|patch|delete|request|head)\(`,
      files`\b(aiohttp|urllib\.request|http\.client|XMLHttpRequest|WebSocket)\b`,
      files`\b(socket\.socket|net\.connect|https?\.(?:get|request))\(`,
      files`\b(Invoke-WebRequest|Invoke-RestMethod|Net\.WebClient|TcpClient)\b`,
      files`(/dev/tcp/)`,
    ],
  },
  {
    code: 'credential-variable',
    says: 'reads a variable named like a secret',
    patterns: [
      files`(?:\$\{?|\benv\.|\benv\[["']|\bgetenv\(["']|\benviron(?:\.get\(|\[)["']|\$env:)([A-Z][A-Z0-9_]{0,60}(?:TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIALS))\b`,
    ],
  },
  {
    code: 'credential-file',
    says: 'names a file with credentials',
    patterns: [
      files`(\.ssh/|\bid_(?:rsa|ed25519)\b|\.aws/|\.netrc\b|\.npmrc\b|\.pypirc\b|\.kube/config|\.docker/config\.json|\.git-credentials|\.config/gcloud|\.config/gh/|\.gnupg\b|/etc/shadow\b|/etc/passwd\b|Login Data\b|login\.keychain|wallet\.dat)`,
      files`(?<=^|[\s\`"'/(])(\.env(?:\.(?:local|dev|development|prod|production|staging|test))?)(?![\w([]|\.\w)`,
    ],
  },
  {
    code: 'shell-execution',
    says: 'starts programs',
    patterns: [
      files`\b(subprocess|os\.system|os\.popen|os\.exec[lv]p?e?|pty\.spawn)\b`,
      files`\b(child_process|execSync|spawnSync|execFile|Deno\.Command|Bun\.spawn)\b`,
      files`\b(Runtime\.getRuntime|ProcessBuilder|Process\.Start|Start-Process)\b`,
      command`((?:ba|z|da)?sh -l?c|cmd(?:\.exe)? /c|powershell|pwsh)(?= )`,
    ],
  },
  {
    code: 'evaluation',
    says: 'runs text as code',
    patterns: [
      files`(?<![\w.])(eval|new Function|execfile|compile)\((?!\))`,
      command`(eval) ["'$\`]`,
      files`(?<![\w.])(exec)\((?=["'a-z])`,
      files`\b(Invoke-Expression|iex)\b(?= )`,
      files`\b(pickle\.loads?|marshal\.loads|yaml\.unsafe_load|vm\.runIn\w{1,20})\(`,
    ],
  },
  {
    code: 'package-install',
    says: 'installs or fetches packages',
    patterns: [command`(${packageCommands})(?= {1,9}[-\w"'@$./])`],
  },
  {
    code: 'persistence',
    says: 'starts something later or again',
    patterns: [
      files`(\bcrontab\b|/etc/cron\.|\blaunchctl\b|LaunchAgents|LaunchDaemons|systemctl (?:--user )?enable|/etc/systemd|\.config/autostart|\bschtasks\b|CurrentVersion\\{1,2}Run|\.git/hooks|/etc/rc\.local|authorized_keys|\.(?:bashrc|bash_profile|zshrc|zprofile|zshenv)\b|[~/]\.profile\b|\$PROFILE\b)`,
    ],
  },
  {
    code: 'privilege',
    says: 'raises or loosens permissions',
    patterns: [
      command`(sudo|doas|setcap|chown root|runas)(?= )`,
      files`\b(chmod (?:777|\+s|u\+s|a\+rwx|4[0-7]{3}))\b`,
      files`(--dangerously-skip-permissions|--dangerously-bypass-approvals-and-sandbox|bypassPermissions|--no-sandbox|--privileged|--yolo\b|--allow-all-tools|Set-ExecutionPolicy)`,
    ],
  },
  {
    code: 'deletion',
    says: 'deletes or overwrites',
    patterns: [
      command`(rm -(?:rf|fr|r -f|f -r)|mkfs|shred|dd if=|Remove-Item -Recurse)\b`,
      files`\b(shutil\.rmtree|rimraf|git push (?:--force|-f)|git reset --hard|git clean -\w{1,8})\b`,
      files`\b(DROP (?:TABLE|DATABASE|SCHEMA)|TRUNCATE TABLE)\b`,
    ],
  },
  {
    code: 'agent-configuration',
    says: 'names the configuration of an agent client',
    patterns: [
      files`("mcpServers"|\[mcp_servers\.[\w-]{1,60}\]|\b(?:claude|codex|gemini) mcp add\b)`,
      files`(\.claude/settings(?:\.local)?\.json|\.claude\.json|\.codex/config\.toml|\.gemini/settings\.json|\.cursor/(?:mcp|hooks)\.json|\.vscode/(?:settings|tasks|mcp)\.json|opencode\.jsonc?\b)`,
    ],
  },
]

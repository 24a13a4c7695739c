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

/** Words that a shell would start: at the beginning of a line, or behind what ends a command. */
function command(words: string, after: string): RegExp {
  return new RegExp(`(?<=^|[\\s\`($|;&"'])(${words})${after}`, 'gm')
}

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
      command(
        'curl|wget|nc|ncat|netcat|telnet|ssh|scp|sftp|rsync',
        String.raw`(?= {1,9}[-\w"'$./~@])`,
      ),
      /\b(fetch|urlopen|urlretrieve|createConnection)\(/gm,
      /\b(requests|httpx|axios)\.(?:get|post|put|patch|delete|request|head)\(/gm,
      /\b(aiohttp|urllib\.request|http\.client|XMLHttpRequest|WebSocket)\b/gm,
      /\b(socket\.socket|net\.connect|https?\.(?:get|request))\(/gm,
      /\b(Invoke-WebRequest|Invoke-RestMethod|Net\.WebClient|TcpClient)\b/gm,
      /(\/dev\/tcp\/)/gm,
    ],
  },
  {
    code: 'credential-variable',
    says: 'reads a variable named like a secret',
    patterns: [
      /(?:\$\{?|\benv\.|\benv\[["']|\bgetenv\(["']|\benviron(?:\.get\(|\[)["']|\$env:)([A-Z][A-Z0-9_]{0,60}(?:TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIALS))\b/gm,
    ],
  },
  {
    code: 'credential-file',
    says: 'names a file with credentials',
    patterns: [
      /(\.ssh\/|\bid_(?:rsa|ed25519)\b|\.aws\/|\.netrc\b|\.npmrc\b|\.pypirc\b|\.kube\/config|\.docker\/config\.json|\.git-credentials|\.config\/gcloud|\.config\/gh\/|\.gnupg\b|\/etc\/shadow\b|\/etc\/passwd\b|Login Data\b|login\.keychain|wallet\.dat)/gm,
      /(?<=^|[\s`"'/(])(\.env(?:\.(?:local|dev|development|prod|production|staging|test))?)(?![\w([]|\.\w)/gm,
    ],
  },
  {
    code: 'shell-execution',
    says: 'starts programs',
    patterns: [
      /\b(subprocess|os\.system|os\.popen|os\.exec[lv]p?e?|pty\.spawn)\b/gm,
      /\b(child_process|execSync|spawnSync|execFile|Deno\.Command|Bun\.spawn)\b/gm,
      /\b(Runtime\.getRuntime|ProcessBuilder|Process\.Start|Start-Process)\b/gm,
      command(String.raw`(?:ba|z|da)?sh -l?c|cmd(?:\.exe)? /c|powershell|pwsh`, '(?= )'),
    ],
  },
  {
    code: 'evaluation',
    says: 'runs text as code',
    patterns: [
      /(?<![\w.])(eval|new Function|execfile|compile)\((?!\))/gm,
      command('eval', ' ["\'$`]'),
      /(?<![\w.])(exec)\((?=["'a-z])/gm,
      /\b(Invoke-Expression|iex)\b(?= )/gm,
      /\b(pickle\.loads?|marshal\.loads|yaml\.unsafe_load|vm\.runIn\w{1,20})\(/gm,
    ],
  },
  {
    code: 'package-install',
    says: 'installs or fetches packages',
    patterns: [command(packageCommands, String.raw`(?= {1,9}[-\w"'@$./])`)],
  },
  {
    code: 'persistence',
    says: 'starts something later or again',
    patterns: [
      /(\bcrontab\b|\/etc\/cron\.|\blaunchctl\b|LaunchAgents|LaunchDaemons|systemctl (?:--user )?enable|\/etc\/systemd|\.config\/autostart|\bschtasks\b|CurrentVersion\\{1,2}Run|\.git\/hooks|\/etc\/rc\.local|authorized_keys|\.(?:bashrc|bash_profile|zshrc|zprofile|zshenv)\b|[~/]\.profile\b|\$PROFILE\b)/gm,
    ],
  },
  {
    code: 'privilege',
    says: 'raises or loosens permissions',
    patterns: [
      command('sudo|doas|setcap|chown root|runas', '(?= )'),
      /\b(chmod (?:777|\+s|u\+s|a\+rwx|4[0-7]{3}))\b/gm,
      /(--dangerously-skip-permissions|--dangerously-bypass-approvals-and-sandbox|bypassPermissions|--no-sandbox|--privileged|--yolo\b|--allow-all-tools|Set-ExecutionPolicy)/gm,
    ],
  },
  {
    code: 'deletion',
    says: 'deletes or overwrites',
    patterns: [
      command('rm -(?:rf|fr|r -f|f -r)|mkfs|shred|dd if=|Remove-Item -Recurse', String.raw`\b`),
      /\b(shutil\.rmtree|rimraf|git push (?:--force|-f)|git reset --hard|git clean -\w{1,8})\b/gm,
      /\b(DROP (?:TABLE|DATABASE|SCHEMA)|TRUNCATE TABLE)\b/gm,
    ],
  },
  {
    code: 'agent-configuration',
    says: 'names the configuration of an agent client',
    patterns: [
      /("mcpServers"|\[mcp_servers\.[\w-]{1,60}\]|\b(?:claude|codex|gemini) mcp add\b)/gm,
      /(\.claude\/settings(?:\.local)?\.json|\.claude\.json|\.codex\/config\.toml|\.gemini\/settings\.json|\.cursor\/(?:mcp|hooks)\.json|\.vscode\/(?:settings|tasks|mcp)\.json|opencode\.jsonc?\b)/gm,
    ],
  },
]

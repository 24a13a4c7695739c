import { posix } from 'node:path'
import { findSecrets } from '../core/redact.ts'
import { safeLine, withoutEnd } from '../core/text.ts'
import type { AuditedText, Findings } from './findings.ts'
import { type AuditCode, auditRule } from './rules.ts'

/** A file and the beginning of its text; empty for a file that is not text. */
interface ScriptCandidate {
  file: string
  head: string
  executable: boolean
}

/** Names a script, its language, and what starts it. */
export function checkScript({ file, head, executable }: ScriptCandidate, findings: Findings): void {
  const extension = posix.extname(file).slice(1).toLowerCase()
  const shebang = /^#![ \t]{0,8}([^\n\r]{1,200})/.exec(head)?.[1]?.trim()
  const known = languages.get(extension)
  if (shebang === undefined && known === undefined && (!executable || prose.has(extension))) return
  const language = known ?? (shebang === undefined ? 'unknown language' : programOf(shebang))
  const start =
    shebang !== undefined
      ? `its first line starts it with ${safeLine(shebang)}`
      : executable
        ? 'its run bit is set, without a first line that says what starts it'
        : 'nothing in the file says what starts it'
  findings.add('script', { file, line: 1 }, `${safeLine(language)}: ${start}`, {
    subject: language,
  })
}

/** Whether a name promises a script. */
export function isNamedLikeScript(file: string): boolean {
  return languages.has(posix.extname(file).slice(1).toLowerCase())
}

function programOf(shebang: string): string {
  const words = shebang.split(/\s+/)
  const first = posix.basename(words[0] ?? '')
  if (first !== 'env') return first
  return words.slice(1).find((word) => !word.startsWith('-') && !word.includes('=')) ?? first
}

/** By their extensions. */
const languages = new Map(
  Object.entries({
    AppleScript: 'applescript',
    'batch file': 'bat cmd',
    'C#': 'cs',
    fish: 'fish',
    Go: 'go',
    JavaScript: 'cjs js jsx mjs',
    Kotlin: 'kts',
    Lua: 'lua',
    Perl: 'pl',
    PHP: 'php',
    PowerShell: 'ps1 psm1',
    Python: 'py',
    R: 'r',
    Ruby: 'rb',
    Rust: 'rs',
    shell: 'bash sh zsh',
    Swift: 'swift',
    Tcl: 'tcl',
    TypeScript: 'cts mts ts tsx',
    VBScript: 'vbs',
  }).flatMap(([language, extensions]) =>
    extensions.split(' ').map((extension) => [extension, language] as const),
  ),
)

/** Some file systems set the run bit of every file. */
const prose: ReadonlySet<string> = new Set(
  'csv gif html jpeg jpg json jsonc lock md pdf png svg toml txt webp xml yaml yml'.split(' '),
)

/** What a text asks for or can do, by its words. One fact a line for each subject. */
export function checkCapabilities(audited: AuditedText, findings: Findings): void {
  const { file, text, placeOf } = audited
  for (const { code, pattern, subject } of capabilityPatterns) {
    let last = ''
    for (const match of text.matchAll(pattern)) {
      if (findings.countsOnly(code, file)) continue
      const place = placeOf(match.index)
      const about = safeLine(subject ?? match[1] ?? match[0]).slice(0, 80)
      const key = `${place.line} ${about}`
      if (key === last) continue
      last = key
      findings.add(code, { file, ...place }, messageOf(code, about), { subject: about })
    }
  }
  checkAddresses(audited, findings)
  for (const { offset, length, what } of encodedRuns(text)) {
    const message = `${length} characters of ${what}`
    findings.add('encoded-data', { file, ...placeOf(offset) }, message, { subject: what })
  }
}

function messageOf(code: Parameters<typeof auditRule>[0], subject: string): string {
  return `${names[code] ?? auditRule(code).sentence}: ${subject}`
}

/** A host is reported where it first occurs in a file: its further addresses say nothing new. */
function checkAddresses({ file, text, placeOf }: AuditedText, findings: Findings): void {
  const seen = new Set<string>()
  for (const match of text.matchAll(addressPattern)) {
    const host = withoutEnd((match[1] ?? '').toLowerCase(), '.:')
    if (host === '' || seen.has(host)) continue
    seen.add(host)
    const subject = safeLine(host)
    findings.add('network-address', { file, ...placeOf(match.index) }, `names ${subject}`, {
      subject,
    })
  }
}

const names: Readonly<Record<string, string>> = {
  'network-call': 'talks to the network',
  'download-and-run': 'runs what it downloads',
  'credential-variable': 'reads a variable named like a secret',
  'credential-file': 'names a file with credentials',
  'shell-execution': 'starts programs',
  evaluation: 'runs text as code',
  'package-install': 'installs or fetches packages',
  persistence: 'starts something later or again',
  privilege: 'raises or loosens rights',
  deletion: 'deletes or overwrites',
  'mcp-configuration': 'configures MCP servers',
  'agent-configuration': 'names the configuration of an agent client',
  decoding: 'decodes data',
  'decode-and-run': 'runs what it decodes',
  'override-phrase': 'sets something aside',
  'concealment-phrase': 'asks for silence',
}

/**
 * A fact that a text shows by a word. Every quantifier has an upper bound, so that no text makes a
 * pattern slow: a test holds the table to it.
 */
interface CapabilityPattern {
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

/** Hosts of addresses; names and passwords before an `@` are not part of what is shown. */
const addressPattern: RegExp =
  /\b(?:https?|wss?|ftp|git|ssh):\/\/(?:[^\s/@"'`<>]{0,200}@)?([A-Za-z0-9[\]:._${}<>*-]{1,253})/g

/** Where secrets stand. What is shown is the kind of a secret, and never the secret. */
export function checkSecrets({ file, text, placeOf }: AuditedText, findings: Findings): void {
  for (const { offset, length, kind } of findSecrets(text)) {
    const value = text.slice(offset, offset + length)
    if (kind === 'private key' ? !hasKeyMaterial(value) : isPlaceholder(value)) continue
    const isValue = kind.startsWith('value of ')
    // `schema-pk-…` is the name of a rule, and no key.
    if (kind === modelKey && /[\w-]/.test(text.charAt(offset - 1))) continue
    if ((isValue || loose.has(kind)) && !looksRandom(value)) continue
    const place = { file, ...placeOf(offset) }
    const subject = safeLine(kind)
    if (isValue) findings.add('secret-value', place, `${subject}, written out`, { subject })
    else {
      const code = kind === modelKey || !loose.has(kind) ? 'secret-token' : 'secret-form'
      findings.add(code, place, `has the form of a secret: ${subject}`, { subject })
    }
  }
}

const modelKey = 'key of a model provider'

/** Forms that other text has too. */
const loose: ReadonlySet<string> = new Set([
  'authorization header',
  'password in an address',
  'JSON Web Token',
  modelKey,
])

/** What examples in documentation say instead of a secret. */
function isPlaceholder(value: string): boolean {
  return /example|sample|dummy|placeholder|your|change|redacted|insert|replace|secret|password|<|\$|\{|\*{3}|\.{3}|…|(?:x|X|0|1234){4}|abcd|abc-?123|12345|a1b2c3|_here|_aqui/i.test(
    value,
  )
}

/** Prose names the first line of a key; a key has lines of base64 behind it. */
function hasKeyMaterial(value: string): boolean {
  return /[A-Za-z0-9+/=]{40}/.test(value.slice(0, 1000))
}

/** Letters and digits mixed, long enough for a key, and no call or path. */
function looksRandom(value: string): boolean {
  const bare = value.replaceAll(/^["']|["']$/g, '')
  return (
    bare.length >= 12 &&
    /^[\w+/=.~!@#%^&-]*$/.test(bare) &&
    /\d/.test(bare) &&
    /[A-Za-z]/.test(bare) &&
    !/^(?:[a-z]+[._/-])+[a-z]+$/i.test(bare)
  )
}

/** A stretch of text that nobody can read. */
interface EncodedRun {
  offset: number
  length: number
  what: 'base64' | 'hexadecimal digits' | 'escapes'
}

/** Shorter ones are digests, identifiers and paths. */
const longRuns = /(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{160,}/g
const shortestBase64 = 200

/** `\x41\x42…` and `\u0041…`. */
const escapes = /(?:\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|u\{[0-9a-f]{1,6}\}|[0-3][0-7]{2})){20,}/gi

/** Long stretches of encoded data. Pictures in `data:` addresses are left out. */
function encodedRuns(text: string): EncodedRun[] {
  const runs: EncodedRun[] = []
  for (const { index, 0: run } of text.matchAll(longRuns)) {
    const what = encodingOf(run)
    const before = text.slice(Math.max(0, index - 80), index)
    const isPicture = /data:(?:image|font|audio|video)\/[\w.+-]{1,40};base64,$/.test(before)
    if (what !== undefined && !isPicture) runs.push({ offset: index, length: run.length, what })
  }
  for (const { index, 0: run } of text.matchAll(escapes)) {
    runs.push({ offset: index, length: run.length, what: 'escapes' })
  }
  return runs.toSorted((a, b) => a.offset - b.offset)
}

/** Paths have no capitals and digits at once at this length, and rulers are one character. */
function encodingOf(run: string): EncodedRun['what'] | undefined {
  if (/^(?:[0-9a-f]*|[0-9A-F]*)$/.test(run)) {
    return /[1-9]/.test(run) && /[a-f]/i.test(run) ? 'hexadecimal digits' : undefined
  }
  if (run.length < shortestBase64) return undefined
  return /[0-9]/.test(run) && /[A-Z]/.test(run) && /[a-z]/.test(run) ? 'base64' : undefined
}

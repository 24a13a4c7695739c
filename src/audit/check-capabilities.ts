import { safeLine, withoutEnd } from '../base/index.ts'
import { addressPattern, capabilityPatterns } from './_capability-patterns.ts'
import { encodedRuns } from './_encoded-runs.ts'
import type { AuditedText } from './check-characters.ts'
import type { Findings } from './_findings.ts'
import { auditRule } from './rules.ts'

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

/** What should not have been published. The value itself is never shown. */
export const secretRules = {
  'secret-token': {
    severity: 'error',
    sentence: 'Nothing has the form of a private key, or of a key or token of a known service.',
    source: 'https://cwe.mitre.org/data/definitions/798.html',
  },
  'secret-form': {
    severity: 'warning',
    sentence: 'No authorization header, address or JSON Web Token carries a secret.',
    source: 'https://cwe.mitre.org/data/definitions/798.html',
  },
  'secret-value': {
    severity: 'info',
    sentence: 'A key that is named like a secret has a literal value.',
    source: 'https://cwe.mitre.org/data/definitions/798.html',
  },
} as const

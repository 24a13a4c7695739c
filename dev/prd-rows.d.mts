export const rowId: string

export const prdSections: readonly {
  title: string
  rows: readonly (readonly [
    id: string,
    asks: string,
    facts?: { differs?: string; bench?: string },
  ])[]
}[]

const response = await fetch(process.argv[2])
if (!response.ok) throw new Error(`mirror a answered ${response.status}`)
console.log(`mirror a sent ${(await response.text()).length} characters`)

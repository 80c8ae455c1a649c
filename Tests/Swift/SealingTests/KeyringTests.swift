import Testing

@testable import Sealing

@Suite struct KeyringTests {
    private let key = SealingKey.random()
    private let place = SealContext(table: "jobs", column: "spec", row: "job_1")
    private var ring: Keyring { Keyring(current: key) }

    @Test(arguments: ["", "a", "ab", "abc", "{\"url\":\"https://host/?a=ä\"}", String(repeating: "x", count: 100_000)])
    func opensWhatItHasSealed(_ text: String) {
        let sealed = ring.seal(text, at: place)
        #expect(sealed.hasPrefix("sealed:1:\(key.id):"))
        #expect(text.isEmpty || !sealed.contains(text) || text.count < 4)
        #expect(ring.open(sealed, at: place) == .text(text))
        #expect(ring.seal(text, at: place) != sealed)
    }

    @Test func opensNothingInAnotherPlace() {
        let sealed = ring.seal("secret", at: place)
        for other in [
            SealContext(table: "parts", column: "spec", row: "job_1"),
            SealContext(table: "jobs", column: "finish", row: "job_1"),
            SealContext(table: "jobs", column: "spec", row: "job_2"),
            SealContext(table: "jobs\0spec", column: "", row: "job_1"),
        ] {
            #expect(ring.open(sealed, at: other) == .refused, "\(other)")
        }
    }

    @Test func tellsAMissingKeyFromAChange() throws {
        let sealed = ring.seal("secret", at: place)
        #expect(Keyring(current: .random()).open(sealed, at: place) == .keyMissing)
        #expect(Keyring(current: .random(), others: [key]).open(sealed, at: place) == .text("secret"))
        // The identifier of another key does not make that key open it.
        let other = SealingKey.random()
        let forged = sealed.replacing(key.id, with: other.id)
        #expect(Keyring(current: other).open(forged, at: place) == .refused)
        for text in [
            "", "sealed:1:", "sealed:1:\(key.id)", "sealed:1:\(key.id):", "sealed:1:\(key.id):!!!!",
            "sealed:2:\(key.id):AAAA",
        ] {
            #expect(ring.open(text, at: place) == .refused, "\(text)")
        }
        for end in sealed.indices.dropFirst("sealed:1:".count + 17) {
            #expect(ring.open(sealed[..<end], at: place) == .refused)
        }
    }

    @Test func anotherKeySealsAfterARotation() {
        let next = SealingKey.random()
        let rotated = ring.sealing(with: next)
        #expect(rotated.current.id == next.id && rotated.all.map(\.id) == [next.id, key.id])
        #expect(rotated.open(ring.seal("before", at: place), at: place) == .text("before"))
        #expect(Keyring(current: next).open(rotated.seal("after", at: place), at: place) == .text("after"))
    }
}

import Foundation
import Testing

@testable import Sealing

@Suite struct SealingKeyTests {
    @Test func readsAndWritesBase64() throws {
        let bytes = [UInt8](0..<32)
        let key = try #require(SealingKey(bytes))
        #expect(key.base64 == Array(Data(bytes).base64EncodedString().utf8))
        #expect(SealingKey(base64: key.base64)?.id == key.id)
        #expect(key.id.count == 16 && key.id.allSatisfy(\.isHexDigit))
        #expect(SealingKey.random().id != SealingKey.random().id)
    }

    @Test(arguments: [
        "", "AAAA", String(repeating: "A", count: 43), String(repeating: "A", count: 44),
        String(repeating: "A", count: 42) + "==", String(repeating: "A", count: 42) + " =",
        String(repeating: "A", count: 42) + "-=", String(repeating: "A", count: 43) + "= ",
        String(repeating: " ", count: 43) + "=",
    ])
    func refusesTextThatIsNoKey(_ text: String) {
        #expect(SealingKey(base64: Array(text.utf8)) == nil)
        #expect(SealingKey(Array(text.utf8)) == nil || text.utf8.count == 32)
    }

    @Test func derivesOtherKeysForOtherPurposes() {
        let key = SealingKey.random()
        #expect(key.derived(for: "sign-in") == key.derived(for: "sign-in"))
        #expect(key.derived(for: "sign-in") != key.derived(for: "sign-out"))
        #expect(key.derived(for: "sign-in") != SealingKey.random().derived(for: "sign-in"))
        #expect(key.derived(for: "sign-in").count == 32)
    }
}

import Foundation
import TestKit
import Testing

@testable import Sealing

@Suite struct KeyCommandTests {
    private let key = SealingKey.random()
    private var text: String { String(decoding: key.base64, as: UTF8.self) }

    @Test func takesTheKeyThatTheCommandPrints() throws {
        #expect(try KeyCommand("echo \(text)").run().id == key.id)
        #expect(try KeyCommand("  printf  %s  \(text) ").run().id == key.id)
    }

    @Test(arguments: [
        ("", "names no program"), ("no-such-program-of-fetchd", "cannot be started"), ("false", "has failed"),
        ("echo secret", "must print a key"), ("true", "must print a key"),
        ("head -c 5000 /dev/zero", "must print a key"),
    ])
    func saysWhyThereIsNoKey(_ command: String, _ reason: String) {
        let error = #expect(throws: KeyError.self) { try KeyCommand(command).run() }
        #expect(error?.description.contains(reason) == true, "\(error as Any)")
        #expect(error?.description.contains("secret") == false)
    }

    @Test func endsACommandThatTakesTooLong() {
        let error = #expect(throws: KeyError.self) { try KeyCommand("sleep 100", limit: .milliseconds(50)).run() }
        #expect(error?.description.contains("did not end") == true)
    }

    /// No shell reads the command.
    @Test func givesQuotesAndVariablesNoMeaning() throws {
        let folder = try TemporaryFolder()
        #expect(throws: KeyError.self) { try KeyCommand("echo \(text) > \(folder.path("made"))").run() }
        #expect(throws: KeyError.self) { try KeyCommand("echo '\(text)'").run() }
        #expect(folder.files.isEmpty)
    }
}

import Foundation
import HTTPServer
import HTTPTypes
import Testing

@testable import API

/// The proof of a node that it has checked a request.
@Suite struct RelaySignatureTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private static let path = "/v1/jobs/job_1/file"
    private let signature = RelaySignature(key: Array(repeating: 7, count: 32))

    private func head(_ value: String, path: String = Self.path) -> RequestHead {
        RequestHead(method: .get, target: path, headers: [RelaySignature.field: value])
    }

    @Test func isGenuineForItsPathAndTime() {
        let value = signature.value(for: Self.path, to: 2, at: Self.now)
        #expect(signature.recipient(of: head(value), at: Self.now) == 2)
        #expect(signature.recipient(of: head(value, path: Self.path + "?x=1"), at: Self.now) == 2)
        #expect(signature.recipient(of: head(value, path: "/v1/jobs/job_2/file"), at: Self.now) == nil)
        let other = RelaySignature(key: Array(repeating: 8, count: 32))
        #expect(other.recipient(of: head(value), at: Self.now) == nil)
        #expect(signature.recipient(of: RequestHead(method: .get, target: Self.path), at: Self.now) == nil)
    }

    @Test func holdsForOneNode() {
        let value = signature.value(for: Self.path, to: 2, at: Self.now).replacing(".2.", with: ".3.")
        #expect(signature.recipient(of: head(value), at: Self.now) == nil)
    }

    /// The clocks of two nodes differ.
    @Test(arguments: [(-59.0, true), (-61, false), (0, true), (119, true), (121, false)])
    func holdsForAMinute(_ seconds: Double, _ isGenuine: Bool) {
        let value = signature.value(for: Self.path, to: 2, at: Self.now)
        let recipient = signature.recipient(of: head(value), at: Self.now.addingTimeInterval(seconds))
        #expect(recipient == (isGenuine ? 2 : nil))
    }

    @Test(arguments: [
        "", ".", "1", "x.y.z", "1800000030.2", "1800000030.2.", "1800000030.2.00", "1800000030.2.00.00",
        "99999999999999999999.2.0",
    ])
    func refusesWhatNoNodeHasMade(_ value: String) {
        #expect(signature.recipient(of: head(value), at: Self.now) == nil)
    }
}

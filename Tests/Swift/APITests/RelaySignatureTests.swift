import Foundation
import HTTPTypes
import Testing

@testable import API
@testable import HTTPServer

/// The proofs by which nodes recognize each other.
@Suite struct RelaySignatureTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private static let path = "/v1/jobs/job_1/file"
    private static let client = RequestHead(method: .get, target: path, headers: [.range: "bytes=1-2"])
    private let signature = RelaySignature(key: Array(repeating: 7, count: 32))

    private func head(
        _ value: String, _ method: HTTPRequest.Method = .get, path: String = Self.path, range: String? = "bytes=1-2"
    ) -> RequestHead {
        let headers: RequestFields =
            if let range { [RelaySignature.requestField: value, .range: range] } else {
                [RelaySignature.requestField: value]
            }
        return RequestHead(method: method, target: path, headers: headers)
    }

    private func request() -> RelaySignature.Request { signature.request(for: Self.client, to: 2, at: Self.now) }

    // MARK: The request

    @Test func requestIsGenuineForItsNodeOnce() {
        let value = request().value
        #expect(signature.recipient(of: head(value), at: Self.now) == 2)
        #expect(signature.recipient(of: head(value), at: Self.now) == nil)
        #expect(signature.recipient(of: head(request().value), at: Self.now) == 2)
        // The query is not passed on.
        #expect(signature.recipient(of: head(request().value, path: Self.path + "?x=1"), at: Self.now) == 2)
    }

    @Test func requestIsGenuineForItsFileItsMethodAndItsRange() {
        let value = request().value
        for other in [
            head(value, path: "/v1/jobs/job_2/file"), head(value, .head), head(value, range: "bytes=1-3"),
            head(value, range: nil), head(value.replacing(".2.", with: ".3.")), Self.client,
        ] {
            #expect(signature.recipient(of: other, at: Self.now) == nil, "\(other)")
        }
        let stranger = RelaySignature(key: Array(repeating: 8, count: 32))
        #expect(stranger.recipient(of: head(value), at: Self.now) == nil)
        // None of these has used up the nonce.
        #expect(signature.recipient(of: head(value), at: Self.now) == 2)
    }

    /// The clocks of two nodes differ.
    @Test(arguments: [(-59.0, true), (-61, false), (0, true), (119, true), (121, false)])
    func requestHoldsForAMinute(_ seconds: Double, _ isGenuine: Bool) {
        let recipient = signature.recipient(of: head(request().value), at: Self.now.addingTimeInterval(seconds))
        #expect(recipient == (isGenuine ? 2 : nil))
    }

    @Test func nonceIsKnownForAsLongAsItsRequestHolds() {
        let nonces = RelayNonces()
        #expect(nonces.take("a", at: Self.now))
        #expect(nonces.take("b", at: Self.now.addingTimeInterval(179)))
        #expect(!nonces.take("a", at: Self.now.addingTimeInterval(180)))
        #expect(nonces.take("c", at: Self.now.addingTimeInterval(181)))
        #expect(!nonces.take("b", at: Self.now.addingTimeInterval(359)))
    }

    @Test(arguments: [
        "", ".", "1", "x.y.z", "1800000030.2", "1800000030.2.", "1800000030.2.00", "1800000030.2.00.00",
        "1800000030.2.00000000000000000000000000000000.00", "99999999999999999999.2.0.0",
    ])
    func requestThatNoNodeHasMadeIsRefused(_ value: String) {
        #expect(signature.recipient(of: head(value), at: Self.now) == nil)
    }

    // MARK: The response

    private static let response = Response(
        status: .partialContent, headers: [.eTag: "\"a-1\"", .contentRange: "bytes 1-2/9"], body: .bytes([1, 2]))

    @Test func responseIsProvenForItsRequest() {
        let (first, second) = (request(), request())
        let proven = signature.proven(Self.response, to: head(first.value))
        #expect(signature.isProven(proven, to: first))
        #expect(!signature.isProven(proven, to: second))
        #expect(!signature.isProven(Self.response, to: first))
        let stranger = RelaySignature(key: Array(repeating: 8, count: 32))
        #expect(!signature.isProven(stranger.proven(Self.response, to: head(first.value)), to: first))
        #expect(!stranger.isProven(proven, to: first))
    }

    @Test func responseIsProvenWithItsHead() {
        let request = request()
        let proven = signature.proven(Self.response, to: head(request.value))
        for change in [
            { $0.status = .ok }, { $0.headers[.eTag] = "\"b-1\"" }, { $0.headers[.contentRange] = nil },
            { $0.body = .bytes([1]) }, { $0.headers[RelaySignature.responseField] = "" },
        ] as [(inout Response) -> Void] {
            var changed = proven
            change(&changed)
            #expect(!signature.isProven(changed, to: request))
        }
    }
}

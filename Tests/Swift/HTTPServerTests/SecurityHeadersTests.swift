import HTTPTypes
import Testing

@testable import HTTPServer

/// Browsers and caches get the same protective fields with every response.
@Suite struct SecurityHeadersTests {
    private static let names = [
        "x-content-type-options", "content-security-policy", "referrer-policy", "cache-control",
    ]

    private static let text = Response(status: .ok, body: .bytes([97]))

    @Test func everyKindOfResponseHasThem() async throws {
        let prepared = try #require(PreparedResponse(Self.text))
        for answer in [Answer.now(Self.text), .prepared(prepared), .now(Response(status: .notModified))] {
            try await withServer(TestHandler { _ in answer }) { port in
                let response = try RawClient(port).exchange()
                for name in Self.names {
                    #expect(response.fields.filter { $0.name == name }.count == 1, "\(name)")
                }
            }
        }
    }

    @Test func aResponseCanHaveItsOwn() async throws {
        let own = Response(status: .ok, headers: [.cacheControl: "no-store"], body: .bytes([97]))
        try await withServer(TestHandler { _ in .now(own) }) { port in
            let response = try RawClient(port).exchange()
            #expect(response.fields.filter { $0.name == "cache-control" }.map(\.value) == ["no-store"])
            #expect(response["x-content-type-options"] == "nosniff")
        }
    }
}

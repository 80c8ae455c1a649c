import Configuration
import HTTPTypes
import Testing

@testable import API
@testable import HTTPServer

@Suite struct WebOriginTests {
    @Test(arguments: [
        ("http://localhost:9000", "http://localhost:9000"), ("https://Downloads.Example", "https://downloads.example"),
        ("HTTPS://a.example:443", "https://a.example"), ("http://a.example:80/", "http://a.example"),
        ("http://a.example:443", "http://a.example:443"), ("http://[::1]:9000", "http://[::1]:9000"),
        ("http://[::1]", "http://[::1]"), ("http://192.168.1.7:8000", "http://192.168.1.7:8000"),
        ("chrome-extension://abcdefgh", "chrome-extension://abcdefgh"), ("http://a:09000", "http://a:9000"),
        ("file://", "file://"), ("FILE:///", "file://"),
    ])
    func writesOriginLikeBrowser(_ text: String, _ written: String) {
        #expect(WebOrigin(text)?.description == written)
    }

    @Test(arguments: [
        "", "null", "*", "localhost:9000", "http:", "http://", "http:///", "://a", "http://a/b", "http://a//",
        "http://a?b",
        "http://a#b", "http://u@a", "http://*.a.example", "http://a:", "http://a:0", "http://a:70000", "http://a:+1",
        "http://a b", "http://bücher.example", "http://[::1", "http://[]", "http://[a]", "http://::1", "1http://a",
        "http://a,http://b", "file:///home", "files://",
    ])
    func refusesInvalidOrigin(_ text: String) {
        #expect(WebOrigin(text) == nil)
    }
}

/// CORS headers and permissions by origin.
@Suite struct OriginRuleTests {
    private static let page = "http://localhost:9000"
    private static let named = OriginRule(.only([WebOrigin(page)!, WebOrigin("https://b.example")!]))
    private static let rules: [(name: String, rule: OriginRule)] = [
        ("none", OriginRule(.only([]))), ("named", named), ("any", OriginRule(.any)),
    ]

    private func head(_ method: HTTPRequest.Method, _ fields: RequestFields, host: String = "127.0.0.1:8080")
        -> RequestHead
    {
        var head = RequestHead(method: method, target: "/v1/jobs", headers: fields)
        head.headers[HTTPField.Name("Host")!] = host
        return head
    }

    private struct Told: Equatable {
        var allowOrigin: String?
        var exposes: Bool
        var vary: String?
    }

    /// The headers for each origin, by configured origins: none, two, any.
    private static let answers: [(origin: String?, told: [Told])] = {
        let nothing = Told(allowOrigin: nil, exposes: false, vary: nil)
        let varying = Told(allowOrigin: nil, exposes: false, vary: "Origin")
        let anybody = Told(allowOrigin: "*", exposes: true, vary: nil)
        func echoed(_ origin: String) -> Told { Told(allowOrigin: origin, exposes: true, vary: "Origin") }
        return [
            (nil, [nothing, varying, nothing]),
            (page, [nothing, echoed(page), anybody]),
            ("https://b.example", [nothing, echoed("https://b.example"), anybody]),
            ("http://localhost:9001", [nothing, varying, anybody]),
            ("https://localhost:9000", [nothing, varying, anybody]),
            ("http://localhost:9000.evil.example", [nothing, varying, anybody]),
            ("http://evil.example", [nothing, varying, anybody]),
            // No browser writes these, so they match no configured origin.
            ("http://LOCALHOST:9000", [nothing, varying, anybody]),
            ("http://localhost:9000/", [nothing, varying, anybody]),
            ("null", [nothing, varying, anybody]), ("", [nothing, varying, anybody]),
        ]
    }()

    @Test(arguments: answers.indices)
    func addsCORSHeadersByOriginAndConfiguration(_ index: Int) {
        let (origin, told) = Self.answers[index]
        for ((name, rule), told) in zip(Self.rules, told) {
            let fields = rule.fields(for: head(.get, origin.map { [.origin: $0] } ?? [:]))
            let exposed = fields[.accessControlExposeHeaders]?.split(separator: ", ") ?? []
            #expect(
                Told(
                    allowOrigin: fields[.accessControlAllowOrigin], exposes: exposed.contains("ETag"),
                    vary: fields[.vary])
                    == told, "\(origin ?? "no origin"), \(name) allowed")
            // The API has no cookies, so browsers have no credentials to add.
            #expect(fields[.accessControlAllowCredentials] == nil)
            #expect(fields[.accessControlAllowHeaders] == nil)
        }
    }

    @Test func answersPreflightOfAllowedOrigin() {
        func preflight(_ origin: String, private isPrivate: Bool = false) -> RequestHead {
            var fields: RequestFields = [.origin: origin, .accessControlRequestMethod: "POST"]
            if isPrivate { fields[.accessControlRequestPrivateNetwork] = "true" }
            return head(.options, fields)
        }
        let rule = Self.named
        #expect(rule.isPreflight(preflight(Self.page)))
        #expect(!rule.isPreflight(preflight("http://evil.example")))
        #expect(!OriginRule(.only([])).isPreflight(preflight(Self.page)))
        // Without Access-Control-Request-Method it is an ordinary OPTIONS request.
        #expect(!rule.isPreflight(head(.options, [.origin: Self.page])))
        #expect(!rule.isPreflight(head(.get, [.origin: Self.page, .accessControlRequestMethod: "POST"])))

        let fields = rule.fields(for: preflight(Self.page))
        #expect(fields[.accessControlAllowOrigin] == Self.page)
        #expect(fields[.vary] == "Origin")
        #expect(fields[.accessControlMaxAge] == "7200")
        for name in ["Authorization", "Content-Type", "Idempotency-Key", "If-None-Match", "Last-Event-ID", "Prefer"] {
            #expect(fields[.accessControlAllowHeaders]?.split(separator: ", ").contains(Substring(name)) ?? false)
        }
        #expect(fields[.accessControlAllowPrivateNetwork] == nil)
        #expect(
            rule.fields(for: preflight(Self.page, private: true))[.accessControlAllowPrivateNetwork] == "true")
        #expect(rule.fields(for: preflight("http://evil.example"))[.accessControlAllowHeaders] == nil)
    }

    private struct Case: Sendable, CustomStringConvertible {
        var description: String
        var fields: RequestFields = [:]
        var host = "127.0.0.1:8080"
        /// Whether the write is refused, with none, two or any origins configured.
        var isRefused: [Bool]

        static let all = [
            Case(description: "no browser", isRefused: [false, false, false]),
            Case(
                description: "the dashboard", fields: [.origin: "http://127.0.0.1:8080"],
                isRefused: [false, false, false]),
            Case(
                description: "the dashboard behind a proxy that tells its name", fields: [.origin: "https://d.example"],
                host: "d.example", isRefused: [false, false, false]),
            Case(
                description: "the dashboard behind a proxy that does not",
                fields: [.origin: "https://d.example", .secFetchSite: "same-origin"], isRefused: [false, false, false]),
            Case(description: "typed in", fields: [.secFetchSite: "none"], isRefused: [false, false, false]),
            Case(description: "a stranger", fields: [.origin: "http://evil.example"], isRefused: [true, true, false]),
            Case(
                description: "another port of this machine",
                fields: [.origin: "http://127.0.0.1:9000", .secFetchSite: "same-site"], isRefused: [true, true, false]),
            Case(description: "an allowed page", fields: [.origin: page], isRefused: [true, false, false]),
            Case(
                description: "an allowed page, with metadata", fields: [.origin: page, .secFetchSite: "cross-site"],
                isRefused: [true, false, false]),
            Case(description: "a file", fields: [.origin: "null"], isRefused: [true, true, false]),
            Case(
                description: "a stranger without a name", fields: [.secFetchSite: "cross-site"],
                isRefused: [true, true, true]),
        ]
    }

    @Test(arguments: Case.all)
    private func refusesWritesFromForeignOrigins(_ example: Case) {
        for ((name, rule), isRefused) in zip(Self.rules, example.isRefused) {
            for method in [HTTPRequest.Method.post, .put, .patch, .delete] {
                let head = head(method, example.fields, host: example.host)
                do throws(Problem) {
                    try rule.check(head)
                    #expect(!isRefused, "\(example), \(name) allowed: \(method)")
                } catch {
                    #expect(isRefused, "\(example), \(name) allowed: \(method)")
                    #expect(error.kind == .foreignOrigin)
                }
            }
            for method in [HTTPRequest.Method.get, .head, .options] {
                #expect(throws: Never.self) { try rule.check(head(method, example.fields, host: example.host)) }
            }
        }
    }

    @Test func refusalNamesOptionToAllowOrigin() {
        let head = head(.post, [.origin: "http://localhost:9001"])
        let problem = #expect(throws: Problem.self) { try Self.named.check(head) }
        #expect(problem?.detail.contains("--allow-origin http://localhost:9001") ?? false)
    }
}

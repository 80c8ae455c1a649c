import Configuration
import Downloads
import Foundation
import HTTPTypes
import TestKit
import Testing

@testable import API
@testable import HTTPServer
@testable import Storage
@testable import StorageSQLite

/// Each step that a request passes before its body is read, alone.
@Suite struct RequestStepsTests {
    private let time = ManualTime()
    private static let token = "secret"
    private static let open = Route(.get, "/livez", .open) { _ in .noContent }
    private static let scoped = Route(.post, "/v1/jobs", .scope(.jobs, of: .selection), body: .required(limit: 7)) {
        _ in
        .noContent
    }
    private static let relayed = Route(.get, "/v1/jobs/{id}/file", .scope(.read, of: .job), isRelayed: true) { _ in
        .noContent
    }
    private static let table = RouteTable([open, scoped, relayed])

    private func request(
        _ method: HTTPRequest.Method = .post, _ target: String = "/v1/jobs", _ fields: RequestFields = [:],
        from address: String = "192.0.2.1", at route: Route? = nil
    ) -> IncomingRequest {
        var request = IncomingRequest(
            RequestHead(method: method, target: target, headers: fields, remoteAddress: address))
        request.match = route.map { RouteMatch(route: $0, path: []) }
        return request
    }

    /// The kind of the problem of a step; nil if the request passes it.
    private func problem(_ step: any RequestStep, _ request: IncomingRequest) -> Problem.Kind? {
        var request = request
        do throws(Problem) {
            #expect(try step.apply(to: &request) == nil)
            return nil
        } catch {
            return error.kind
        }
    }

    private func passed(_ step: any RequestStep, _ request: IncomingRequest) throws -> IncomingRequest {
        var request = request
        #expect(try step.apply(to: &request) == nil)
        return request
    }

    private func authentication(tokens: [StoredToken] = []) -> Authentication {
        Authentication(
            token: Self.token, tokens: TokenTable(tokens), cookies: SessionCookies(key: []), time: time)
    }

    private static func field(_ name: String) throws -> HTTPField.Name { try #require(HTTPField.Name(name)) }

    @Test func onlyATrustedProxySaysForWhomItSends() throws {
        let forwarded = request(.get, "/", [try Self.field("X-Forwarded-For"): "203.0.113.9"])
        let trusting = ClientAddressStep(proxies: try TrustedProxies(["192.0.2.1"]))
        #expect(try passed(trusting, forwarded).head.clientAddress == "203.0.113.9")
        let others = ClientAddressStep(proxies: try TrustedProxies(["192.0.2.2"]))
        #expect(try passed(others, forwarded).head.clientAddress == "192.0.2.1")
        #expect(try passed(ClientAddressStep(proxies: TrustedProxies()), forwarded).head.forwardedAddress == nil)
    }

    @Test func relayedRequestIsForThisNode() throws {
        let signature = RelaySignature(key: Array(repeating: 7, count: 32))
        func step(_ number: Int64?) -> RelayStep { RelayStep(signature: signature, number: number, time: time) }
        func relayed() -> IncomingRequest {
            var request = request(.get, "/v1/jobs/job_1/file")
            let value = signature.request(for: request.head, to: 2, at: time.now).value
            request.head.headers[RelaySignature.requestField] = value
            return request
        }
        #expect(try passed(step(2), relayed()).isRelayed)
        #expect(try !passed(step(2), request(.get, "/v1/jobs/job_1/file")).isRelayed)
        for other in [3, nil] as [Int64?] { #expect(problem(step(other), relayed()) == .misdirectedRequest) }
    }

    /// The sentence says what is wrong, and what to change.
    @Test func misdirectedRelayNamesBothNodes() throws {
        let signature = RelaySignature(key: Array(repeating: 7, count: 32))
        var request = request(.get, "/v1/jobs/job_1/file")
        request.head.headers[RelaySignature.requestField] =
            signature.request(for: request.head, to: 2, at: time.now).value
        let step = RelayStep(signature: signature, number: 3, time: time)
        let problem = #expect(throws: Problem.self) { try step.apply(to: &request) }
        #expect(
            problem?.detail
                == "The URL of node 2 leads to node 3. Start node 2 with a --node-url that only it answers.")
    }

    @Test func hostIsANameOfTheService() throws {
        let rule = HostFieldStep(publicHosts: ["files.example"])
        let host = try Self.field("Host")
        #expect(problem(rule, request(.get, "/", [host: "files.example"])) == nil)
        var foreign = request(.get, "/", [host: "evil.example"])
        #expect(problem(rule, foreign) == .misdirectedRequest)
        // Another node uses the name by which it knows this one.
        foreign.isRelayed = true
        #expect(problem(rule, foreign) == nil)
    }

    @Test func foreignPageChangesNothing() throws {
        let rule = OriginRule(.only([]))
        let fields: RequestFields = [.origin: "http://evil.example"]
        #expect(problem(rule, request(.post, "/v1/jobs", fields)) == .foreignOrigin)
        #expect(problem(rule, request(.get, "/v1/jobs", fields)) == nil)
    }

    @Test func routeIsFoundOrAnsweredOrRefused() throws {
        let origins = OriginRule(.any)
        let step = RouteStep(table: Self.table, origins: origins)
        #expect(try passed(step, request(.post, "/v1/jobs")).match?.route.pattern == ["v1", "jobs"])
        #expect(problem(step, request(.post, "/nowhere")) == .notFound)
        #expect(problem(step, request(.put, "/v1/jobs")) == .methodNotAllowed)
        var all = request(.options, "*")
        #expect(try step.apply(to: &all)?.status == .noContent && all.match == nil)
        var preflight = request(
            .options, "/v1/jobs", [.origin: "http://a.example", .accessControlRequestMethod: "POST"])
        let response = try #require(try step.apply(to: &preflight))
        #expect(response.status == .noContent && response.headers[.accessControlAllowMethods] == "POST")
    }

    @Test func serviceIsAvailableWhenItIsReady() async throws {
        let folder = try TemporaryFolder()
        let readiness = Readiness()
        let availability = Availability(readiness, try await Store.open(at: folder.path, time: time))
        #expect(problem(availability, request(at: Self.scoped)) == .unavailable)
        #expect(problem(availability, request(at: Self.open)) == nil)
        readiness.open()
        #expect(problem(availability, request(at: Self.scoped)) == nil)
        readiness.close()
        #expect(problem(availability, request(at: Self.scoped)) == .unavailable)
    }

    @Test func callerIsAuthenticatedWhereTheRouteNeedsOne() throws {
        let step = authentication()
        let known = request(.post, "/v1/jobs", [.authorization: "Bearer \(Self.token)"], at: Self.scoped)
        #expect(try passed(step, known).caller?.isAdministrator == true)
        #expect(problem(step, request(at: Self.scoped)) == .unauthorized)
        #expect(try passed(step, request(at: Self.open)).caller == nil)
        var relayed = request(.get, "/v1/jobs/job_1/file", at: Self.relayed)
        #expect(problem(step, relayed) == .unauthorized)
        relayed.isRelayed = true
        #expect(try passed(step, relayed).caller === Caller.peer)
        // Only requests for files are passed on.
        relayed.match = RouteMatch(route: Self.scoped, path: [])
        #expect(problem(step, relayed) == .unauthorized)
    }

    /// A token can be revoked while the body is received.
    @Test func callerIsConfirmedWithoutItsSecret() async throws {
        let folder = try TemporaryFolder()
        let store = try await Store.open(at: folder.path, time: time)
        let authentication = Authentication(
            token: Self.token, tokens: store.tokens, cookies: SessionCookies(key: []), time: time)
        let new = NewToken(grant: Permissions(.jobs)!, expiresAt: time.now.addingTimeInterval(60))
        let token = try await store.createToken(new, with: TokenDigest(of: "other"))
        func caller(_ secret: String) throws -> Caller {
            try authentication.caller(of: request(.get, "/", [.authorization: "Bearer \(secret)"]).head)
        }
        let (first, stored) = (try caller(Self.token), try caller("other"))
        try authentication.confirm(first)
        try authentication.confirm(stored)
        time.advance(by: 60)
        #expect(throws: Problem.self) { try authentication.confirm(stored) }
        time.advance(by: -60)
        try authentication.confirm(stored)
        try await store.deleteToken(token.id)
        #expect(throws: Problem.self) { try authentication.confirm(stored) }
        try authentication.confirm(first)
    }

    @Test func tokenSendsAsManyRequestsAsItsQuotaAllows() {
        let token = Token(
            id: TokenID("tok_1"), name: nil, grant: Permissions(.jobs)!, quotas: TokenQuotas(requestsPerSecond: 1),
            createdAt: time.now)
        var limited = request(at: Self.scoped)
        limited.caller = Caller(grant: token.grant, identity: "tok_1", token: token)
        let rates = RequestRates(time: time)
        #expect(problem(rates, limited) == nil)
        #expect(problem(rates, limited) == .quotaExceeded)
        #expect(problem(rates, request(at: Self.open)) == nil)
    }

    @Test func callerHasTheScopeOfTheRoute() {
        var request = request(at: Self.scoped)
        request.caller = Caller(grant: Permissions(.jobs)!, identity: "")
        #expect(problem(PermissionStep(), request) == nil)
        request.caller = Caller(grant: Permissions(.read)!, identity: "")
        #expect(problem(PermissionStep(), request) == .forbidden)
        #expect(problem(PermissionStep(), self.request(at: Self.open)) == nil)
    }

    @Test func bodyIsJSONAndAnnouncedWhereTheRouteTakesOne() throws {
        let json: RequestFields = [.contentLength: "2", .contentType: "application/json"]
        #expect(try passed(BodyStep(), request(.post, "/v1/jobs", json, at: Self.scoped)).bodyLimit == 7)
        let text: RequestFields = [.contentLength: "2", .contentType: "text/plain"]
        #expect(problem(BodyStep(), request(.post, "/v1/jobs", text, at: Self.scoped)) == .unsupportedMediaType)
        #expect(problem(BodyStep(), request(.get, "/livez", json, at: Self.open)) == .bodyTooLarge)
        #expect(try passed(BodyStep(), request(.get, "/livez", at: Self.open)).bodyLimit == 0)
    }
}

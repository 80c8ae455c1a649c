import Foundation
import TestKit
import Testing

/// `/v1/sign-in` and `/v1/tickets`: a browser proves its token where a page cannot send it.
@Suite struct SignInTests {
    private typealias Headers = [(name: String, value: String)]

    /// Requests without the token.
    private func stranger(_ scene: Scene) -> APIClient { APIClient(baseURL: scene.fetchd.baseURL) }

    /// The cookie of a new sign-in, as the browser sends it back.
    private func cookie(_ scene: Scene) async throws -> (name: String, value: String) {
        let answer = try await scene.api.post("/v1/sign-in")
        #expect(answer.status == 204)
        let field = try #require(answer.header("Set-Cookie"))
        return ("Cookie", String(field.prefix { $0 != ";" }))
    }

    @Test func aCookieReplacesTheToken() async throws {
        let scene = try await Scene(.init(token: "correct"))
        let cookie = try await cookie(scene)
        #expect(!cookie.value.contains("correct"))
        let stranger = stranger(scene)
        #expect(try await stranger.send("GET", "/v1/jobs").status == 401)
        #expect(try await stranger.send("GET", "/v1/jobs", headers: [cookie]).status == 200)
        let caller = try await stranger.send("GET", "/v1/sign-in", headers: [cookie])
        #expect(caller.json["by"] == "cookie")
        #expect(caller.json["scope"] == "admin")
        let forged = cookie.value.dropLast() + (cookie.value.hasSuffix("0") ? "1" : "0")
        #expect(try await stranger.send("GET", "/v1/jobs", headers: [("Cookie", String(forged))]).status == 401)
    }

    /// A browser sends `Origin` or `Sec-Fetch-Site` with every change. Another program has no cookie of a browser.
    @Test func aCookieChangesSomethingOnlyFromThePagesOfTheService() async throws {
        let scene = try await Scene(.init(token: "correct"))
        let (cookie, stranger) = (try await cookie(scene), stranger(scene))
        func cancel(_ headers: Headers) async throws -> Int {
            try await stranger.send("POST", "/v1/sessions/default/cancel", headers: [cookie] + headers).status
        }
        #expect(try await cancel([("Sec-Fetch-Site", "same-origin")]) == 200)
        #expect(try await cancel([("Origin", scene.fetchd.baseURL)]) == 200)
        #expect(try await cancel([]) == 401)
        #expect(try await cancel([("Sec-Fetch-Site", "same-site"), ("Origin", "http://127.0.0.1:1")]) == 403)
        #expect(try await cancel([("Origin", "http://evil.example")]) == 403)
    }

    @Test func aCookieIsAsSecureAsThePage() async throws {
        let scene = try await Scene(.init(token: "correct"))
        let secure = try await scene.api.post("/v1/sign-in", ["secure": true, "lifetime_seconds": 60])
        #expect(secure.header("Set-Cookie")?.hasSuffix("Max-Age=60; HttpOnly; SameSite=Strict; Secure") == true)
        #expect(try await scene.api.post("/v1/sign-in", ["lifetime_seconds": 1]).status == 422)
        let end = try await stranger(scene).send("DELETE", "/v1/sign-in")
        #expect(end.status == 204)
        #expect(end.header("Set-Cookie")?.contains("Max-Age=0") == true)
    }

    @Test func revokingTheTokenEndsItsSignIns() async throws {
        let scene = try await Scene(.init(token: "correct"))
        let made = try await scene.api.post("/v1/tokens", ["scope": "read"])
        let (id, secret) = (try #require(made.json["id"].string), try #require(made.json["token"].string))
        let reader = APIClient(baseURL: scene.fetchd.baseURL, token: secret)
        let field = try #require(try await reader.post("/v1/sign-in").header("Set-Cookie"))
        let cookie = (name: "Cookie", value: String(field.prefix { $0 != ";" }))
        let ticket = try #require(try await reader.post("/v1/tickets").json["ticket"].string)
        let stranger = stranger(scene)
        #expect(try await stranger.send("GET", "/v1/sign-in", headers: [cookie]).json["scope"] == "read")
        #expect(try await scene.api.delete("/v1/tokens/\(id)").status == 204)
        #expect(try await stranger.send("GET", "/v1/sign-in", headers: [cookie]).status == 401)
        #expect(try await stranger.send("GET", "/v1/jobs/x/file?ticket=\(ticket)").status == 401)
    }

    @Test func aTicketAdmitsOneRequest() async throws {
        let scene = try await Scene(.init(token: "correct"))
        let (id, stranger) = (try await scene.job(in: .succeeded), stranger(scene))
        func ticket() async throws -> String {
            let answer = try await scene.api.post("/v1/tickets")
            #expect(answer.status == 201)
            return try #require(answer.json["ticket"].string)
        }
        let first = try await ticket()
        let file = try await stranger.send("GET", "/v1/jobs/\(id)/file?ticket=\(first)")
        #expect(file.status == 200)
        #expect(file.body == scene.bytes)
        #expect(try await stranger.send("GET", "/v1/jobs/\(id)/file?ticket=\(first)").status == 401)

        let page = try await stranger.send("GET", "/v1/events?after=0&ticket=\(try await ticket())")
        #expect(page.status == 200)
        #expect(page.json["events"].count > 0)
        // Other paths take no ticket.
        #expect(try await stranger.send("GET", "/v1/jobs?ticket=\(try await ticket())").status == 401)
    }

    @Test func aCallerWithoutATokenGetsTicketsToo() async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: .succeeded)
        let ticket = try #require(try await scene.api.post("/v1/tickets").json["ticket"].string)
        #expect(try await scene.api.get("/v1/jobs/\(id)/file?ticket=\(ticket)").status == 200)
        #expect(try await scene.api.get("/v1/sign-in").json["by"] == "address")
        #expect(try await scene.api.post("/v1/sign-in").status == 409)
    }
}

import Formats
import TestKit
import Testing

/// What front ends and browser extensions for aria2 do besides plain calls.
@Suite struct Aria2ClientHabitTests {
    /// AriaNg and aria2p retry a download in this way.
    @Test func aFailedDownloadIsAddedAgainWithItsOptions() async throws {
        let scene = try await Aria2Scene()
        let url: JSON = .string(scene.origin.url("/later.bin"))
        let failed = try await scene.call("aria2.addUri", [url], ["out": "again.bin", "max-tries": "1"])
        let status = try await scene.waitForStatus(failed, "error")
        let options = try await scene.call("aria2.getOption", failed)
        scene.origin.serve("/later.bin", .file(scene.content), [])
        let uris = (status["files"].arrayValue?.first?["uris"].arrayValue ?? []).map { $0["uri"] }
        let again = try await scene.call("aria2.addUri", .array(uris), options)
        #expect(again != failed)
        _ = try await scene.waitForStatus(again, "complete")
        #expect(scene.service.downloaded("again.bin") == scene.content)
        try await scene.service.stop()
    }

    /// YAAW and many scripts add a time to the address, so that no cache answers.
    @Test func aTimeInTheAddressHasNoEffect() async throws {
        let scene = try await Aria2Scene()
        let posted = try await scene.api.post("/jsonrpc?tm=1504257059456", ["id": 1, "method": "aria2.tellActive"])
        #expect(posted.status == 200 && posted.json["result"] == [])
        let got = try await scene.api.get("/jsonrpc?method=aria2.tellActive&id=1&_=1504257059456")
        #expect(got.status == 200 && got.json["result"] == [])
        try await scene.service.stop()
    }

    /// Extensions send the fields of the browser's own request.
    @Test func aBrowsersFieldsAreSentExceptThoseOfItsConnection() async throws {
        let scene = try await Aria2Scene()
        let headers: JSON = [
            "Cookie: a=1", "User-Agent: browser", "Connection: keep-alive", "Accept-Encoding: gzip, deflate, br",
            .string("Host: 127.0.0.1:\(scene.origin.port)"),
        ]
        let gid = try await scene.call("aria2.addUri", [scene.url], ["header": headers])
        _ = try await scene.waitForStatus(gid, "complete")
        let request = try #require(scene.origin.requests(to: "/file.bin").first)
        #expect(request.header("Cookie") == "a=1" && request.header("User-Agent") == "browser")
        #expect(request.header("Accept-Encoding")?.contains("br") != true)
        #expect(request.headers("Host").count == 1)
        try await scene.service.stop()
    }

    @Test func aURIMayHaveSpaces() async throws {
        let scene = try await Aria2Scene()
        scene.origin.serve("/a%20b.bin", .file(scene.content), [])
        let uris: JSON = ["", .string(" \(scene.origin.url("/a b.bin"))\n")]
        let gid = try await scene.call("aria2.addUri", uris)
        _ = try await scene.waitForStatus(gid, "complete")
        #expect(scene.service.downloaded("a b.bin") == scene.content)
        #expect(try await scene.answer("aria2.addUri", ["", " "]).status == 400)
        try await scene.service.stop()
    }
}

import Testing

@testable import Client

/// What a command gets of an event.
@Suite struct HookProcessTests {
    private let folders = ["default": "/srv/files", "films": "/mnt/films"]

    private func run(_ script: String, path: String? = nil, location: String? = nil, document: String = "{}") async
        -> HookEnd
    {
        let event = HookEvent(
            id: 7, session: "a", type: "job.succeeded", job: "j", path: path, location: location,
            document: Array(document.utf8))
        return await HookProcess(command: ["sh", "-c", script], folders: folders).run(event)
    }

    /// Events of earlier versions have no location, and other locations may have no folder on this machine.
    @Test(arguments: [
        (nil, "/srv/files/a/b"), ("default", "/srv/files/a/b"), ("films", "/mnt/films/a/b"), ("archive", "a/b"),
    ])
    func theFolderOfALocationBeginsThePath(_ location: String?, _ path: String) async {
        let script = "test \"$FETCHD_PATH\" = \(path) && test \"$FETCHD_FILE_LOCATION\" = '\(location ?? "")'"
        #expect(await run(script, path: "a/b", location: location) == .exited(0))
    }

    @Test func theCommandReadsTheDocument() async {
        let script = "test \"$(cat)\" = '{\"id\":7}' && test \"$FETCHD_EVENT-$FETCHD_JOB\" = 7-j"
        #expect(await run(script, document: "{\"id\":7}") == .exited(0))
    }

    @Test func theEndOfTheCommandIsKnown() async {
        #expect(await run("exit 75") == .exited(75))
        #expect(await run("kill -9 $$") == .killed(signal: 9))
        let missing = HookProcess(command: ["/no/such/command"], folders: [:])
        let event = HookEvent(id: 1, session: "a", type: "job.failed", job: nil, path: nil, document: [])
        #expect(await missing.run(event) == .notStarted(2))
    }
}

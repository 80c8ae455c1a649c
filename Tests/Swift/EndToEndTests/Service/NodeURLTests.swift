import TestKit
import Testing

/// The setting `node_url`.
@Suite struct NodeURLTests {
    @Test(arguments: [
        "10.0.0.7:8080", "ftp://10.0.0.7/", "http://", "http://user@host:1/", "http://host/?a=b", "http://host/#a", "",
    ])
    func refusesWhatIsNoAddress(_ url: String) async throws {
        let outcome = try await FetchdProcess.run(["config", "show", "--node-url", url])
        #expect(outcome.ending == .exited(64) && outcome.errors.contains("node_url is '\(url)'"), "\(outcome)")
    }

    @Test(arguments: ["http://10.0.0.7:8080", "https://node-1.internal/fetchd", "http://[2001:db8::7]:8080/"])
    func takesAddressesOfHTTP(_ url: String) async throws {
        let outcome = try await FetchdProcess.run(["config", "show"], environment: ["FETCHD_NODE_URL": url])
        #expect(outcome.succeeded && outcome.output.contains(/node_url +environment +http/), "\(outcome)")
    }

    /// The other nodes send it in `Host`.
    @Test func itsHostIsANameOfTheService() async throws {
        let fetchd = try await FetchdProcess.start(.init(arguments: ["--node-url", "http://node-1.internal:8080"]))
        for (name, status) in [("node-1.internal:8080", 200), ("node-2.internal:8080", 421)] {
            #expect(try await fetchd.api.get("/v1/stats", headers: [("Host", name)]).status == status)
        }
    }
}

import Formats
import Foundation
import TestKit
import Testing

/// `GET /v1/nodes`, `fetchd nodes` and the metrics of nodes.
@Suite struct NodeListTests {
    @Test(.onSQLite) func aServiceWithSQLiteIsItsOnlyNode() async throws {
        let scene = try await Scene(.init { $0.start.values.maxConcurrentJobs = 7 })
        let nodes = try #require(try await scene.api.get("/v1/nodes").json["nodes"].arrayValue)
        #expect(nodes.count == 1)
        let expected: [(String, JSON)] = [
            ("id", nil), ("number", 1), ("epoch", 1), ("state", "running"), ("url", nil), ("downloads", "local"),
            ("lease_expires_in_seconds", nil), ("is_self", true), ("is_leader", true), ("is_draining", false),
            ("slots", 7), ("running", 0),
        ]
        for (name, value) in expected { #expect(nodes.first?[name] == value, "\(name): \(nodes)") }
        _ = try await scene.job(in: .running)
        #expect(try await scene.api.get("/v1/nodes").json["nodes"][0]["running"] == 1)
        scene.gate.open()
    }

    @Test(.enabled(if: PostgresServer.isAvailable)) func eachNodeListsAllNodes() async throws {
        let cluster = try await TestedCluster(of: 3)
        for (index, node) in cluster.nodes.enumerated() {
            let listed = try await eventually("a leader, and a lease of each node") {
                let listed = try await node.api.get("/v1/nodes").json["nodes"].arrayValue ?? []
                let haveLeases = listed.allSatisfy { $0["state"] == "running" }
                return haveLeases && listed.contains { $0["is_leader"] == true } ? listed : nil
            }
            #expect(listed.map(\.["number"]) == [1, 2, 3] && Set(listed.map(\.["id"].string)).count == 3, "\(listed)")
            #expect(listed.map(\.["is_self"]) == [0, 1, 2].map { .bool($0 == index) })
            #expect(listed.map(\.["state"]) == ["running", "running", "running"])
            #expect(listed.map(\.["url"]) == cluster.nodes.map { .string($0.baseURL) })
            #expect(listed.count { $0["is_leader"] == true } == 1)
            #expect(
                listed.allSatisfy { (0...10).contains($0["lease_expires_in_seconds"].numberValue ?? -1) }, "\(listed)")
            let leads = listed[index]["is_leader"] == true ? 1.0 : 0
            let scrape = try await eventually("the node to know whether it leads") {
                let scrape = try await Scrape(of: node.api)
                return scrape["fetchd_node_is_leader"] == leads ? scrape : nil
            }
            #expect(scrape["fetchd_nodes{state=\"running\"}"] == 3 && scrape["fetchd_nodes{state=\"stopped\"}"] == 0)
            #expect(scrape["fetchd_node_lease_seconds"] > 0 && scrape["fetchd_node_lease_seconds"] <= 10)
        }
    }

    @Test(.enabled(if: PostgresServer.isAvailable)) func aNodeThatDiesIsListedAsStopped() async throws {
        let cluster = try await TestedCluster(of: 2)
        let survivor = cluster.nodes[1]
        try await cluster.nodes[0].kill()
        let listed = try await eventually("the lease of the dead node to be taken") {
            let listed = try await survivor.api.get("/v1/nodes").json["nodes"]
            return listed[0]["state"] == "stopped" && listed[1]["is_leader"] == true ? listed : JSON?.none
        }
        #expect(listed[0]["lease_expires_in_seconds"] == nil && listed[0]["running"] == 0)
        let table = try await FetchdProcess.run(["nodes", "--url", survivor.baseURL])
        #expect(table.succeeded && table.output.contains(#/\n1 +stopped +0\s/#), "\(table)")
        #expect(table.output.contains(#/\n2 \* +running +leader +0\s/#), "\(table)")
        try await cluster.nodes[0].restart()
        let back = try await survivor.api.get("/v1/nodes").json["nodes"]
        #expect(back[0]["state"] == "running" && back[0]["id"] == listed[0]["id"], "\(back)")
        #expect((back[0]["epoch"].integer ?? 0) > (listed[0]["epoch"].integer ?? 0))
    }

    @Test(.enabled(if: PostgresServer.isAvailable)) func anAdministratorForgetsANode() async throws {
        let cluster = try await TestedCluster(of: 3)
        let survivor = cluster.nodes[1]
        try await cluster.nodes[2].stop()
        // A node that could not give its lease back is forgotten when the lease has ended.
        _ = try await eventually("node 3 to be forgotten") {
            try await survivor.api.delete("/v1/nodes/3").status == 204 ? true : nil
        }
        let origin = try Origin()
        origin.serve("/file", .file(Content.random(seed: 1, count: 1000)))
        // The other node has the file.
        survivor.signal(SIGSTOP)
        let job = try await cluster.submit([origin.url("/file")])[0]
        try await cluster.nodes[0].api.waitForJob(job, .succeeded)
        survivor.signal(SIGCONT)
        // If it was stopped for long, it needs a new lease.
        _ = try await eventually("the survivor to be ready") {
            try? await survivor.api.get("/readyz").status == 200 ? true : nil
        }
        #expect(try await survivor.api.delete("/v1/nodes/1").status == 409)
        #expect(try await survivor.api.delete("/v1/nodes/9").status == 404)
        try await cluster.nodes[0].stop()
        let forgotten = try await eventually("node 1 to be forgotten") {
            let forgotten = try await FetchdProcess.run(["nodes", "forget", "1", "--url", survivor.baseURL])
            return forgotten.succeeded ? forgotten : nil
        }
        #expect(forgotten.output.contains("node 1 forgotten"), "\(forgotten)")
        #expect(try await survivor.api.get("/v1/nodes").json["nodes"].arrayValue?.map(\.["number"]) == [2])
        #expect(try await survivor.api.get("/v1/jobs/\(job)/file").status == 410)
        let entries = try await survivor.api.get("/v1/audit").json["entries"].arrayValue ?? []
        #expect(entries.last?["action"] == "DELETE /v1/nodes/{number}" && entries.last?["target"] == "1", "\(entries)")
    }
}

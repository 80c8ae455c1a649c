import HTTPTypes
import Testing

@testable import API

@Suite struct RouteClassTests {
    @Test(
        arguments: [
            (.post, "/v1/jobs", .submit), (.post, "/v1/jobs/batch", .submit), (.post, "/v1/jobs/remove", .change),
            (.post, "/v1/jobs/pause", .change),
            (.get, "/v1/jobs", .list),
            (.get, "/v1/jobs/{id}", .poll), (.get, "/v1/jobs/{id}/resume-data", .poll),
            (.get, "/v1/jobs/{id}/file", .file),
            (.patch, "/v1/jobs/{id}", .change), (.delete, "/v1/jobs/{id}", .change),
            (.post, "/v1/jobs/{id}/pause", .change), (.put, "/v1/sessions/{session}", .sessions),
            (.post, "/v1/sessions/{session}/acknowledge", .sessions),
            (.get, "/v1/sessions/{session}/webhooks", .webhooks),
            (.post, "/v1/sessions/{session}/webhooks/{webhook}/test", .webhooks),
            (.post, "/v1/deliveries/{id}/redeliver", .webhooks), (.get, "/v1/events", .events),
            (.get, "/v1/stats", .service), (.get, "/v1/nodes", .service),
            (.delete, "/v1/nodes/{number}", .administration),
            (.get, "/metrics", .service), (.get, "/livez", .service),
            (.get, "/readyz", .service), (.get, "/openapi.yaml", .service), (.get, "/v1/tokens/{id}", .administration),
            (.get, "/v1/audit", .administration), (.get, "/v1/service", .administration),
            (.post, "/v1/sign-in", .administration), (.post, "/v1/tickets", .administration), (.get, "/", .dashboard),
            (.get, "/dashboard/{version}/{file}", .dashboard), (.get, "/client.js", .dashboard),
            (.post, "/jsonrpc", .other),
            (.get, "/v1", .other),
            (.get, "/v1/unknown", .other),
        ] as [(HTTPRequest.Method, String, RouteClass)])
    func eachRouteHasAClass(_ method: HTTPRequest.Method, _ path: String, _ expected: RouteClass) {
        let route = Route(method, path, .open) { _ in .noContent }
        #expect(route.group == expected)
    }

    @Test(arguments: [(200, "2xx"), (201, "2xx"), (304, "3xx"), (404, "4xx"), (499, "4xx"), (503, "5xx")])
    func eachStatusHasAClass(_ code: Int, _ name: String) {
        #expect(StatusClass(HTTPResponse.Status(code: code)).name == name)
    }
}

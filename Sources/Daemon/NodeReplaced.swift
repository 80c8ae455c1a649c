/// The service has stopped, because other nodes of its database have taken over its jobs. It has to start again.
public struct NodeReplaced: Error {}

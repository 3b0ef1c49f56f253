# SPDX-License-Identifier: Apache-2.0
# What `cluster` starts: keys, configurations and command lines. Read by it; $directory, $here, $ADDRESS and $NODE are set.

key() { echo "$directory/keys/$1"; }

make_keys() {
	local user token
	mkdir -p "$directory/keys" "$directory/logs" "$directory/run" "$directory/etc"
	chmod 700 "$directory/keys"
	openssl genrsa -out "$(key service-account.key)" 2048 2>/dev/null
	: >"$(key tokens.csv)"
	while read -r user name group; do
		token=$(openssl rand -hex 16)
		echo "$token,$name,$user,\"$group\"" >>"$(key tokens.csv)"
		kubeconfig "$token" >"$(key "$user.kubeconfig")"
	done <<-EOF
		admin admin system:masters
		controllers system:kube-controller-manager system:masters
		scheduler system:kube-scheduler system:authenticated
		node system:node:$NODE system:nodes
	EOF
	cp "$(key admin.kubeconfig)" "$directory/kubeconfig"
}

kubeconfig() { # TOKEN; kube-apiserver makes its certificate, which signs itself
	cat <<-EOF
		apiVersion: v1
		kind: Config
		clusters: [{name: test, cluster: {server: "https://$ADDRESS:6443",
		  certificate-authority: "$directory/keys/tls/apiserver.crt"}}]
		users: [{name: me, user: {token: $1}}]
		contexts: [{name: test, context: {cluster: test, user: me}}]
		current-context: test
	EOF
}

kubelet_config() {
	cat <<-EOF
		apiVersion: kubelet.config.k8s.io/v1beta1
		kind: KubeletConfiguration
		failCgroupV1: false
		cgroupDriver: cgroupfs
		containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
		address: $ADDRESS
		authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
		authorization: {mode: AlwaysAllow}
		failSwapOn: false
		makeIPTablesUtilChains: false
		nodeStatusUpdateFrequency: 1s
		syncFrequency: 10s
		resolvConf: ""
		podLogsDir: /var/log/pods
		volumePluginDir: /var/lib/kubelet/volumeplugins
		evictionHard: {memory.available: 50Mi}
		imageMinimumGCAge: 24h
		imageGCHighThresholdPercent: 100
		shutdownGracePeriod: 0s
		protectKernelDefaults: true
		${GPUPOOL_CLUSTER_KUBELET:-}
	EOF
}

scheduler_config() {
	cat <<-EOF
		apiVersion: kubescheduler.config.k8s.io/v1
		kind: KubeSchedulerConfiguration
		leaderElection: {leaderElect: false}
		clientConnection: {kubeconfig: $(key scheduler.kubeconfig)}
	EOF
}

# The root lacks CAP_SYS_RESOURCE on some machines, so no score is lowered.
containerd_config() {
	cat <<-EOF
		version = 3
		root = "/var/lib/containerd"
		state = "/run/containerd"
		[grpc]
		address = "/run/containerd/containerd.sock"
		[plugins."io.containerd.internal.v1.opt"]
		path = "/run/containerd/opt"
		[plugins."io.containerd.nri.v1.nri"]
		disable = true
		[plugins."io.containerd.cri.v1.images".pinned_images]
		sandbox = "localhost/pause:1"
		[plugins."io.containerd.cri.v1.runtime"]
		restrict_oom_score_adj = true
		enable_cdi = true
		cdi_spec_dirs = ["/etc/cdi", "/run/cdi"]
		[plugins."io.containerd.cri.v1.runtime".cni]
		bin_dirs = ["$here/cni"]
		conf_dir = "/etc/cni/net.d"
		use_internal_loopback = true
		[plugins."io.containerd.cri.v1.runtime".containerd]
		default_runtime_name = "runc"
		[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
		runtime_type = "io.containerd.runc.v2"
		[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
		BinaryName = "$(command -v runc)" # the system's: the one beside containerd was built without seccomp
	EOF
}

network_config() {
	echo '{"cniVersion": "1.0.0", "name": "test", "plugins": [{"type": "pair", "subnet": "10.99.1"}]}'
}

CONTROLLERS=namespace-controller,serviceaccount-controller,serviceaccount-token-controller
CONTROLLERS+=,root-ca-certificate-publisher-controller,garbage-collector-controller,pod-garbage-collector-controller
CONTROLLERS+=,node-lifecycle-controller,taint-eviction-controller,daemonset-controller,replicaset-controller
CONTROLLERS+=,deployment-controller,job-controller,resourceclaim-controller,device-taint-eviction-controller

# The arguments of each part, one a line.
arguments() {
	case $1 in
	etcd)
		printf '%s\n' --data-dir=/var/lib/etcd --unsafe-no-fsync --listen-peer-urls=http://127.0.0.1:2380 \
			--listen-client-urls=http://127.0.0.1:2379 --advertise-client-urls=http://127.0.0.1:2379 \
			--log-level=warn ;;
	kube-apiserver)
		printf '%s\n' --etcd-servers=http://127.0.0.1:2379 --bind-address=$ADDRESS --secure-port=6443 \
			--advertise-address=$ADDRESS --endpoint-reconciler-type=none --cert-dir="$directory/keys/tls" \
			--service-account-issuer=https://kubernetes.default.svc --service-account-key-file="$(key service-account.key)" \
			--service-account-signing-key-file="$(key service-account.key)" --service-cluster-ip-range=10.98.0.0/24 \
			--token-auth-file="$(key tokens.csv)" --authorization-mode=Node,RBAC --allow-privileged=true \
			--enable-admission-plugins=NodeRestriction --kubelet-preferred-address-types=InternalIP --profiling=false ;;
	kube-controller-manager)
		printf '%s\n' --kubeconfig="$(key controllers.kubeconfig)" --leader-elect=false --profiling=false \
			--service-account-private-key-file="$(key service-account.key)" \
			--root-ca-file="$directory/keys/tls/apiserver.crt" --controllers=$CONTROLLERS --bind-address=127.0.0.1 \
			--cert-dir="$directory/keys/controllers" ;;
	kube-scheduler)
		printf '%s\n' --config="$directory/etc/scheduler.yaml" --bind-address=127.0.0.1 --cert-dir="$directory/keys/scheduler" ;;
	containerd) printf '%s\n' --config=/etc/containerd/config.toml ;;
	kubelet)
		printf '%s\n' --kubeconfig="$(key node.kubeconfig)" --config="$directory/etc/kubelet.yaml" \
			--hostname-override=$NODE --node-ip=$ADDRESS --cert-dir=/var/lib/kubelet/pki ;;
	*) die "there is no service '$1': etcd kube-apiserver kube-controller-manager kube-scheduler containerd kubelet" ;;
	esac
}


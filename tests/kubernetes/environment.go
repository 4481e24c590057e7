package main

import (
	"fmt"
	"regexp"
	"strings"
)

// podIPMark stands for the pod's address, which is not known yet when its variables are read.
const podIPMark = "\x01pod-ip\x01"

// environment is the variables of a container as NAME=VALUE, in the order in which a kubelet sets them: Services, envFrom, env.
func (k *kubelet) environment(l *life, c container) ([]string, error) {
	names := []string{}
	values := map[string]string{}
	set := func(name, value string) {
		if _, is := values[name]; !is {
			names = append(names, name)
		}
		values[name] = value
	}
	set("PATH", searchPath)
	set("HOSTNAME", l.hostname())
	if err := k.links(l, set); err != nil {
		return nil, err
	}
	for _, from := range c.EnvFrom {
		kind, of := "configmaps", from.ConfigMapRef
		if of == nil {
			kind, of = "secrets", from.SecretRef
		}
		if of == nil {
			return nil, fmt.Errorf("the stand-in can't read envFrom of %s", c.Name)
		}
		data, err := k.data(l, kind, of.Name)
		if err != nil {
			return nil, err
		}
		for key, value := range data {
			set(from.Prefix+key, string(value))
		}
	}
	for _, it := range c.Env {
		value, err := k.value(l, it)
		if err != nil {
			return nil, err
		}
		set(it.Name, value)
	}
	all := make([]string, len(names))
	for at, name := range names {
		all[at] = name + "=" + values[name]
	}
	return all, nil
}

var fieldOfMap = regexp.MustCompile(`^metadata\.(annotations|labels)\['(.+)'\]$`)

func (k *kubelet) value(l *life, it variable) (string, error) {
	from := it.ValueFrom
	if from == nil {
		return it.Value, nil
	}
	key, kind := from.ConfigMapKeyRef, "configmaps"
	if key == nil {
		key, kind = from.SecretKeyRef, "secrets"
	}
	if key != nil {
		data, err := k.data(l, kind, key.Name)
		return string(data[key.Key]), err
	}
	if from.FieldRef == nil {
		return "", fmt.Errorf("the stand-in can't read the source of the variable %s", it.Name)
	}
	m := l.pod.Metadata
	switch path := from.FieldRef.FieldPath; path {
	case "metadata.name":
		return m.Name, nil
	case "metadata.namespace":
		return m.Namespace, nil
	case "metadata.uid":
		return m.UID, nil
	case "spec.nodeName":
		return "node", nil
	case "status.podIP":
		return podIPMark, nil
	default:
		found := fieldOfMap.FindStringSubmatch(path)
		if found == nil {
			return "", fmt.Errorf("the stand-in does not know the field %s", path)
		}
		if found[1] == "labels" {
			return m.Labels[found[2]], nil
		}
		return m.Annotations[found[2]], nil
	}
}

// links sets the variables that tell each Service of the namespace; that of the API server alone where spec.enableServiceLinks is
// false.
func (k *kubelet) links(l *life, set func(name, value string)) error {
	var all struct{ Items []service }
	if err := k.api.get("/api/v1/services?resourceVersion=0", &all); err != nil {
		return err
	}
	linked := l.pod.Spec.EnableServiceLinks == nil || *l.pod.Spec.EnableServiceLinks
	for _, s := range all.Items {
		isServer := s.Metadata.Namespace == "default" && s.Metadata.Name == "kubernetes"
		isNear := linked && s.Metadata.Namespace == l.pod.Metadata.Namespace
		if !isServer && !isNear || s.Spec.ClusterIP == "None" || len(s.Spec.Ports) == 0 {
			continue
		}
		name := strings.ToUpper(strings.ReplaceAll(s.Metadata.Name, "-", "_"))
		port := fmt.Sprint(s.Spec.Ports[0].Port)
		address := "tcp://" + s.Spec.ClusterIP + ":" + port
		set(name+"_SERVICE_HOST", s.Spec.ClusterIP)
		set(name+"_SERVICE_PORT", port)
		set(name+"_PORT", address)
		set(name+"_PORT_"+port+"_TCP", address)
		set(name+"_PORT_"+port+"_TCP_ADDR", s.Spec.ClusterIP)
		set(name+"_PORT_"+port+"_TCP_PORT", port)
		set(name+"_PORT_"+port+"_TCP_PROTO", "tcp")
	}
	return nil
}
